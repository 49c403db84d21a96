import Base
import Families
import Radio
import Simulation
import Testing

/// A client and a simulated device, connected over simulated air.
@Suite struct LRClientTests {
    private static let serial = "0a0b0c0d0e0f"
    private static let password = "5F7B2C0A-1111-2222-3333-444455556666"
    private static let key = [UInt8](repeating: 0x42, count: 32)

    private func plan() throws -> LRDevicePlan {
        var plan = LRDevicePlan(serial: try #require(Serial(Self.serial)))
        plan.key = Self.key
        plan.password = Array(Self.password.utf8)
        plan.networks = ["depot", "yard"]
        plan.guest = LRDevicePlan.Guest(code: "123456", id: "7")
        plan.link.mtu = 185
        return plan
    }

    private func credentials(_ password: String = password) throws -> LRCredentials {
        try LRCredentials(Secret(Array("\(Hex.text(Self.key)):\(password)\n".utf8)))
    }

    private let nonce = [UInt8](0..<12)

    /// Runs `body` with a client on a link to the device, in virtual time.
    private func onLink<R: Sendable>(
        _ plan: LRDevicePlan,
        _ body: @escaping @Sendable (LRClient) async throws -> R
    ) throws -> R {
        let simulation = Simulation(seed: 5)
        let result = try simulation.run { () async -> Result<R, any Error> in
            await simulation.air.addAdapter("hci0")
            await simulation.air.arrange { $0.add(plan) }
            let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
            do {
                let heard = try await radio.withScan(
                    ScanFilter(companies: [LRNumbers.company])
                ) { scan throws(RadioError) in
                    try await scan.next(before: simulation.time.now.advanced(by: .seconds(5)))
                }
                let link = try await radio.connect(
                    to: heard.peer,
                    before: simulation.time.now.advanced(by: .seconds(5))
                )
                let client = try await LRClient(link: link, time: simulation.time)
                return .success(try await body(client))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The error with which `body` ends.
    private func failure(
        _ faults: [LRDevicePlan.Fault],
        _ body: @escaping @Sendable (LRClient) async throws -> Void
    ) throws -> LRError? {
        var plan = try plan()
        plan.faults = faults
        return try onLink(plan) { client in
            do {
                try await body(client)
                return nil
            } catch { return error as? LRError }
        }
    }

    @Test func `name, user, auto-lock and networks are read and set`() throws {
        let seen = try onLink(try plan()) { client in
            var seen: [String] = [try await client.name()]
            try await client.setName("Gate 4")
            seen.append(try await client.name())
            seen.append("\(try await client.autoLock() as Int?)")
            try await client.setAutoLock(30)
            seen.append("\(try await client.autoLock() as Int?)")
            try await client.setUser("crew")
            seen += try await client.startNetworkListen()
            try await client.connectToNetwork("depot", password: "p")
            try await client.reset()
            seen.append(try await client.name())
            return seen
        }
        #expect(
            seen == [
                "SmartLock", "Gate 4", "nil", "Optional(30)", "depot", "yard", "SmartLock",
            ]
        )
    }

    @Test func `the password locks and unlocks, another one is refused`() throws {
        let (right, wrong, nonce) = (try credentials(), try credentials("wrong"), nonce)
        let seen = try onLink(try plan()) { client in
            var seen = [try await client.lockState()]
            try await client.setLock(.unlocked, with: right, nonce: nonce)
            seen.append(try await client.lockState())
            do throws(LRError) {
                try await client.setLock(.locked, with: wrong, nonce: nonce)
                Issue.record("a wrong password was taken")
            } catch { #expect(error == .refused(.setLockState)) }
            seen.append(try await client.lockState())
            return seen
        }
        #expect(seen == [.locked, .unlocked, .unlocked])
    }

    @Test func `a fresh device agrees on a key, takes a password and opens with both`() throws {
        var fresh = LRDevicePlan(serial: try #require(Serial(Self.serial)))
        fresh.link.mtu = 185
        let nonce = nonce
        let state = try onLink(fresh) { client in
            guard let pair = KeyPair(secret: Secret([UInt8](repeating: 9, count: 32))) else {
                throw LRError.weakKey
            }
            let key = try await client.exchangeKeys(pair)
            let credentials = LRCredentials(
                key: key,
                password: Secret(Array(Self.password.utf8))
            )
            try await client.setPassword(credentials, nonce: nonce)
            try await client.setLock(.unlocked, with: credentials, nonce: nonce.reversed())
            return try await client.lockState()
        }
        #expect(state == .unlocked)
    }

    @Test func `a guest's code opens, another does not`() throws {
        let refused = try failure([]) { client in
            try await client.guestUnlock(true, code: "123456", id: "7")
            try await client.guestUnlock(true, code: "000000", id: "7")
        }
        #expect(refused == .refused(.guestUnlock))
    }

    @Test(
        arguments: [
            (.silent, .unanswered(.getName, .request(.timedOut(.getName)))),
            (.slow(.seconds(11)), .unanswered(.getName, .request(.timedOut(.getName)))),
            (.wrongKind, .unanswered(.getName, .request(.wrongKind(.getName)))),
            (.linkLost, .unanswered(.getName, .radio(.linkLost))),
            (.slow(.seconds(9)), nil), (.garbage, nil), (.storm(40), nil),
        ] as [(LRDevicePlan.Fault.Kind, LRError?)]
    )
    func `each fault has its error, or none when it can be borne`(
        fault: LRDevicePlan.Fault.Kind,
        error: LRError?
    ) throws {
        let seen = try failure([.init(fault)]) { client in _ = try await client.name() }
        #expect(seen == error)
        #expect(seen?.description.isEmpty != true)
    }

    @Test func `after a time-out the same command is not asked again on this link`() throws {
        let seen = try failure([.init(.silent)]) { client in
            _ = try? await client.name()
            _ = try await client.name()
        }
        #expect(seen == .request(.unsettled(.getName)))
    }

    @Test func `a key that is none is refused`() throws {
        let seen = try failure([.init(.weakKey)]) { client in
            guard let pair = KeyPair(secret: Secret(Self.key)) else { return }
            _ = try await client.exchangeKeys(pair)
        }
        #expect(seen == .weakKey)
    }

    @Test func `what does not fit one message on this link is refused before it is sent`() throws {
        var plan = try plan()
        plan.link.mtu = 23
        let credentials = try credentials()
        let nonce = nonce
        let seen = try onLink(plan) { client -> LRError? in
            do throws(LRError) {
                try await client.setLock(.locked, with: credentials, nonce: nonce)
                return nil
            } catch { return error }
        }
        #expect(seen == .tooLong(65, limit: 15))
    }

    @Test(arguments: [-1, 256, 999])
    func `an auto-lock time that the device would cut is refused`(seconds: Int) throws {
        let seen = try failure([]) { client in try await client.setAutoLock(seconds) }
        #expect(seen == .badValue("the time to the automatic lock is 0 to 255 seconds"))
    }

    @Test func `ten thousand notifications are bounded, and the newest is kept`() throws {
        var plan = try plan()
        plan.faults = [.init(.storm(10_000))]
        let (count, name) = try onLink(plan) { client in
            let name = try await client.name()
            return (client.dropped, name)
        }
        #expect(name == "SmartLock")
        #expect(count > 0)
    }

    private static let digits = String(repeating: "0", count: 64)
    private static let unfit: [(String, LRCredentialsError)] = [
        ("", .empty), (" \n", .empty), ("abc", .noColon), ("00ff:pw", .key(digits: 4)),
        ("\(digits):", .password), ("g\(digits.dropFirst()):pw", .key(digits: 64)),
        ("\(digits):with space", .password),
    ]

    @Test(arguments: unfit)
    func `credentials that are none say why and never what`(
        text: String,
        error: LRCredentialsError
    ) {
        #expect(throws: error) { try LRCredentials(Secret(Array(text.utf8))) }
        #expect(!error.description.contains("pw"))
    }
}
