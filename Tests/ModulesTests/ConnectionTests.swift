import Base
import Families
import Radio
import Simulation
import Synchronization
import Testing

@testable import VehicleModules

/// Connecting to simulated modules: states, errors, and the time after the connection.
@Suite struct ConnectionTests {
    @Test func `a connection goes through its states and knows its module`() throws {
        let plan = ModuleBench.module { $0.firmwareVariant = 3 }
        try ModuleBench([plan]).run { bench in
            let connection = bench.connection()
            let seen = try await bench.states(of: connection) {
                try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
                let list = connection.properties.value
                #expect(list.count { $0.value != nil } == 12)
                #expect(list.filter { !$0.isReadable }.map(\.name) == ["clock", "clock_zone"])
                #expect(!list.contains { $0.isReadable && $0.value == nil })
                let versions = try #require(connection.versions.value)
                #expect(versions.type == 17)
                #expect(versions.variant == 3)
                #expect(versions.secondary == FirmwareVersion(4, 11, 3).description)
                #expect(versions.primary == FirmwareVersion(1, 0, 0).description)
                #expect(versions.bootloader == FirmwareVersion(1, 2, 0).description)
                #expect(
                    versions.externalComponents == [
                        "external-1": FirmwareVersion(1, 2, 3, build: 0).description,
                        "external-2": FirmwareVersion(0, 3, 1, build: 0).description,
                    ]
                )
                #expect(versions.sendsToCloud == false)
            }
            #expect(
                seen == [
                    "disconnected", "connecting to Comodule module 00a0000000000001: searching",
                    "connecting to COMODULE 00a0000000000001: handshaking",
                    "connected to COMODULE 00a0000000000001", "disconnected",
                ]
            )
            #expect(connection.properties.value.isEmpty)
            #expect(connection.versions.value == nil)
        }
    }

    @Test(arguments: [
        (ModulePlan.Fault(.refuseKey, times: 9), ModuleFailure.wrongSecret),
        (.init(.refuseBond), .notBonded),
        (.init(.lacks(0x2556)), sure(missing(characteristic: ComoduleNumbers.challenge.uuid))),
        (.init(.lacks(0x155E)), sure(missing(characteristic: ComoduleNumbers.notifier.uuid))),
        (.init(.lacks(0x2554)), sure(missing(service: ComoduleNumbers.security))),
        (.init(.lacks(0x1554)), sure(missing(service: ComoduleNumbers.metrics))),
        (.init(.connectFails, times: 255), .timedOut(.handshaking)),
        (.init(.silentIn(.challenge), times: 9), .timedOut(.handshaking)),
        (.init(.linkLostIn(.challenge), times: 255), .timedOut(.handshaking)),
        (.init(.linkLostIn(.response), times: 9), .wrongSecret),
        (.init(.flap(total: .seconds(1), period: .seconds(1))), .timedOut(.searching)),
    ])
    func `each error can be met and says what to do`(
        fault: ModulePlan.Fault,
        error: ModuleFailure
    ) throws {
        let plan = ModuleBench.module {
            $0.faults = [fault]
            if error == .timedOut(.searching) { $0.signal = nil }
        }
        try ModuleBench([plan]).run { bench in
            let connection = bench.connection()
            let found = await bench.error(connecting: connection)
            #expect(found == error)
            #expect(connection.state.value == .disconnected(error))
            #expect(!error.sentence.isEmpty && !error.remedy.isEmpty)
            #expect(connection.log.entries.contains { $0.text.contains(error.remedy) })
        }
    }

    @Test(arguments: [
        ModulePlan.Exchange.challenge, .response, .state, .information, .selector, .register,
        .notifier,
    ])
    func `one link lost anywhere in the handshake is made good`(
        exchange: ModulePlan.Exchange
    ) throws {
        try ModuleBench([ModuleBench.faulty(.init(.linkLostIn(exchange)))]).run { bench in
            let connection = bench.connection()
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            #expect(connection.state.value.isConnected)
            await connection.disconnect()
        }
    }

    @Test(arguments: [
        ("", ComoduleKeyError.empty), ("xyz0", .notHex(position: 1)), ("123", .oddDigits(3)),
        (String(repeating: "0", count: 42), .tooLong(digits: 42)),
    ])
    func `a secret that is no key is refused before any radio work`(
        text: String,
        error: ComoduleKeyError
    ) throws {
        try ModuleBench([]).run { bench in
            let connection = bench.connection()
            let secret = Secret(Array(text.utf8))
            await #expect(
                throws: ModuleFailure(
                    .invalidPrivateKey,
                    "the secret is no key of a module: \(error)",
                    "give hex digits"
                )
            ) {
                try await connection.connect(ModuleBench.serial(1), secret: secret)
            }
            let shown = connection.log.entries.map(\.text).joined()
            #expect(text.isEmpty || !shown.contains(text))
        }
    }

    @Test func `a short or upper-case key is the module's`() throws {
        let plan = ModuleBench.module {
            $0.key = [0xAB, 0xCD] + [UInt8](repeating: 0, count: 18)
        }
        try ModuleBench([plan]).run { bench in
            let connection = bench.connection()
            try await connection.connect(
                ModuleBench.serial(1),
                secret: Secret(Array("ABcd".utf8))
            )
            #expect(connection.state.value.isConnected)
            await connection.disconnect()
        }
    }

    // MARK: The host's radio

    @Test func `Bluetooth that is off is waited for`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            await bench.simulation.air.setPower("hci0", on: false)
            let seen = try await bench.states(of: connection) {
                async let on: Void = {
                    await bench.time.sleep(for: .seconds(10), "somebody to switch it on")
                    await bench.simulation.air.setPower("hci0", on: true)
                }()
                try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
                await on
            }
            #expect(seen.contains { $0.hasSuffix("bluetoothOff") })
            #expect(seen.contains { $0.hasPrefix("connected") })
        }
    }

    @Test func `Bluetooth that stays off is reported as such`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.setPower("hci0", on: false)
            #expect(await bench.error(connecting: bench.connection()) == .bluetoothOff)
        }
    }

    @Test func `an adapter that is not there is reported as such`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.removeAdapter("hci0")
            let failure = await bench.error(connecting: bench.connection())
            #expect(failure?.code == .bluetoothNotSupported)
        }
    }

    @Test func `a user without the right is reported as such`() throws {
        try ModuleBench([]).run { bench in
            let connection = ModuleConnection(central: LockedCentral(), time: bench.time)
            let failure = await bench.error(connecting: connection)
            #expect(failure?.code == .missingPermissions)
            #expect(failure?.sentence.contains("use of Bluetooth") == true)
        }
    }

    @Test(arguments: [true, false])
    func `the host forgets a module after its last use`(works: Bool) throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let central = ForgettingCentral(bench.central)
            let connection = ModuleConnection(central: central, time: bench.time)
            let secret =
                works ? ModuleBench.secret : Secret(Array(String(repeating: "3c", count: 20).utf8))
            do throws(ModuleFailure) {
                try await connection.connect(
                    ModuleBench.serial(1),
                    secret: secret,
                    timeout: .seconds(25)
                )
                #expect(central.remembered.count == 1)
                await connection.disconnect()
            } catch { #expect(!works) }
            #expect(central.hasConnected && central.remembered.isEmpty)
        }
    }

    // MARK: One after the other

    @Test func `a second connect ends the first`() throws {
        let plans = [ModuleBench.module(1) { $0.signal = nil }, ModuleBench.module(2)]
        try ModuleBench(plans).run { bench in
            let connection = bench.connection()
            async let first = bench.error(connecting: connection, timeout: .seconds(600))
            await bench.time.sleep(for: .seconds(5), "the first attempt to be under way")
            let began = bench.time.now
            try await connection.connect(ModuleBench.serial(2), secret: ModuleBench.secret)
            #expect(await first == .attemptEnded)
            #expect(began.duration(to: bench.time.now) < .seconds(10))
            guard case .connected(_, let serial) = connection.state.value else {
                Issue.record("not connected")
                return
            }
            #expect(serial == ModuleBench.serial(2).text)
            await connection.disconnect()
        }
    }

    @Test func `connecting elsewhere ends the connection that there is`() throws {
        try ModuleBench([ModuleBench.module(1), ModuleBench.module(2)]).run { bench in
            let connection = bench.connection()
            for number in [1, 2, 1] {
                try await connection.connect(
                    ModuleBench.serial(number),
                    secret: ModuleBench.secret
                )
            }
            // Connecting to the second module would fail if its link were still up.
            let other = bench.connection()
            try await other.connect(ModuleBench.serial(2), secret: ModuleBench.secret)
            await other.disconnect()
            await connection.disconnect()
        }
    }

    @Test func `disconnect ends an attempt and forgets the module`() throws {
        try ModuleBench([ModuleBench.module { $0.signal = nil }]).run { bench in
            let connection = bench.connection()
            async let attempt = bench.error(connecting: connection, timeout: .seconds(600))
            await bench.time.sleep(for: .seconds(5), "the attempt to be under way")
            await connection.disconnect()
            #expect(await attempt == .attemptEnded)
            #expect(connection.state.value == .disconnected(nil))
        }
    }

    @Test func `a task that is cancelled ends its attempt`() throws {
        try ModuleBench([ModuleBench.module { $0.signal = nil }]).run { bench in
            let connection = bench.connection()
            let began = bench.time.now
            let found = await withTaskGroup(of: ModuleFailure?.self) { group in
                group.addTask { await bench.error(connecting: connection, timeout: .seconds(600)) }
                await bench.time.sleep(for: .seconds(5), "the attempt to be under way")
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(found == .attemptEnded)
            #expect(began.duration(to: bench.time.now) < .seconds(10))
        }
    }

    // MARK: After it was made

    @Test func `a lost link is the end unless reconnecting was asked for`() throws {
        let plan = ModuleBench.faulty(.init(.linkLostAfter(.seconds(20))))
        for reconnects in [false, true] {
            try ModuleBench([plan]).run { bench in
                let connection = bench.connection()
                let seen = try await bench.states(of: connection) {
                    var options = ModuleConnection.Options(genericProfile)
                    options.reconnects = reconnects
                    try await connection.connect(
                        ModuleBench.serial(1),
                        secret: ModuleBench.secret,
                        options: options
                    )
                    await bench.time.sleep(for: .seconds(60), "the link to be lost")
                    #expect(connection.state.value.isConnected == reconnects)
                    #expect(connection.properties.value.isEmpty != reconnects)
                }
                #expect(
                    seen.count { $0.hasPrefix("connected") } == (reconnects ? 2 : 1)
                )
            }
        }
    }

    @Test func `a module that hands an image on is connected to when it is done`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            let seen = try await bench.states(of: connection) {
                try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
                await bench.simulation.air.arrange {
                    $0.modules(ComoduleModule.self)[0].handOn(.seconds(40))
                }
                await bench.time.sleep(for: .seconds(10), "the module to say so")
                #expect(connection.update.value == .moduleUpdatingComponent)
                await #expect(throws: PropertyWriteError.firmwareUpdateOngoing) {
                    try await connection.write(.state("enabled"), to: "lights")
                }
                await #expect(throws: PropertyReadError.moduleNotConnected) {
                    try await connection.read("lights")
                }
                await bench.time.sleep(for: .seconds(60), "the module to be done")
                #expect(connection.state.value.isConnected)
                try await connection.write(.state("enabled"), to: "lights")
            }
            #expect(seen.contains { $0.hasSuffix("firmwareUpdateOngoing") })
        }
    }

    @Test func `connecting in the middle of it waits until it is over`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            await bench.simulation.air.arrange {
                $0.modules(ComoduleModule.self)[0].handOn(.seconds(20))
            }
            let connection = bench.connection()
            #expect(
                await bench.error(connecting: connection, timeout: .seconds(8))
                    == .timedOut(.firmwareUpdateOngoing)
            )
            let began = bench.time.now
            try await connection.connect(
                ModuleBench.serial(1),
                secret: ModuleBench.secret,
                timeout: .seconds(60)
            )
            #expect(began.duration(to: bench.time.now) > .seconds(8))
            #expect(connection.state.value.isConnected)
            await connection.disconnect()
        }
    }

    @Test func `what is remembered makes the next handshake shorter`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            func time() async throws -> Duration {
                let began = bench.time.now
                try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
                await connection.disconnect()
                return began.duration(to: bench.time.now)
            }
            let first = try await time()
            let second = try await time()
            #expect(connection.cache.count == 1)
            connection.clearCache()
            #expect(connection.cache.count == 0)
            let third = try await time()
            #expect(second < first && second < third, "\(first) \(second) \(third)")
        }
    }

    @Test func `an address that is stale costs a few seconds and no more`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            var cached = CachedModule()
            cached.peer = Peer(handle: "C0:00:00:00:00:00")
            connection.cache.remember(cached, as: ModuleBench.serial(1))
            let began = bench.time.now
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            #expect(began.duration(to: bench.time.now) < .seconds(6))
            await connection.disconnect()
        }
    }

    // MARK: Keys

    @Test func `a new key holds at once and on every later link`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            let new = Secret(Array(String(repeating: "2f", count: 20).utf8))
            #expect(try await connection.changeKey(to: new))
            await connection.disconnect()
            #expect(
                await bench.error(connecting: bench.connection()) == .wrongSecret
            )
            try await connection.connect(ModuleBench.serial(1), secret: new)
            await connection.disconnect()
            #expect(!connection.log.entries.contains { $0.text.contains("2f2f") })
            #expect(connection.log.entries.contains { $0.text.contains("<secret>") })
        }
    }

    @Test func `a key that was not taken leaves the old one in use`() throws {
        try ModuleBench([ModuleBench.faulty(.init(.refuseKeyChange))]).run { bench in
            let connection = bench.connection()
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            let new = Secret(Array(String(repeating: "2f", count: 20).utf8))
            #expect(try await !connection.changeKey(to: new))
            #expect(connection.state.value.isConnected)
            await connection.disconnect()
        }
    }
}

/// A host that keeps what it learned of a peer until it is to forget it.
private final class ForgettingCentral: Central {
    private let central: any Central
    private let peers = Mutex<(all: Set<Peer>, remembered: Set<Peer>)>(([], []))

    init(_ central: any Central) { self.central = central }

    var adapter: String { central.adapter }
    var hasConnected: Bool { peers.withLock { !$0.all.isEmpty } }
    var remembered: Set<Peer> { peers.withLock { $0.remembered } }

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R { try await central.withScan(filter, body) }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        peers.withLock {
            $0.all.insert(peer)
            $0.remembered.insert(peer)
        }
        return try await central.connect(to: peer, policy, before: deadline)
    }

    func forget(_ peer: Peer) async {
        peers.withLock { _ = $0.remembered.remove(peer) }
        await central.forget(peer)
    }
}

/// A host that refuses access to its radio.
private struct LockedCentral: Central {
    let adapter = "hci0"

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R { throw .unauthorized }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        throw .unauthorized
    }

    func forget(_ peer: Peer) async {}
}

/// The failures of modules that lack something.
private func missing(service uuid: GATTUUID) -> ModuleFailure? {
    ModuleFailure(final: .radio(.missingService(uuid)))
}

private func missing(characteristic uuid: GATTUUID) -> ModuleFailure? {
    ModuleFailure(final: .radio(.missingCharacteristic(uuid)))
}

extension ModuleConnectionState {
    fileprivate var shown: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting(let name, let serial, let part): "connecting to \(name) \(serial): \(part)"
        case .connected(let name, let serial): "connected to \(name) \(serial)"
        }
    }
}

extension ModuleConnection {
    /// Connects to a module with the profile of most modules in the tests.
    func connect(
        _ serial: Serial,
        secret: Secret?,
        timeout: Duration = .seconds(30)
    ) async throws(ModuleFailure) {
        let options = Options(genericProfile)
        try await connect(serial, secret: secret, timeout: timeout, options: options)
    }
}

extension ModuleBench {
    func connection() -> ModuleConnection { ModuleConnection(central: central, time: time) }

    /// The error of connecting to the first module; nil when it is connected.
    func error(
        connecting connection: ModuleConnection,
        _ options: ModuleConnection.Options = .init(genericProfile),
        timeout: Duration = .seconds(25)
    ) async -> ModuleFailure? {
        do throws(ModuleFailure) {
            try await connection.connect(
                Self.serial(1),
                secret: Self.secret,
                timeout: timeout,
                options: options
            )
            await connection.disconnect()
            return nil
        } catch { return error }
    }

    /// The states of a connection while it is tended and the body runs.
    func states(
        of connection: ModuleConnection,
        _ body: () async throws -> Void
    ) async throws -> [String] {
        let seen = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { text in seen.withLock { $0.append(text) } }
        let result: Result<Void, any Error> = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await state in connection.state.values() { note(state.shown) }
            }
            let result: Result<Void, any Error> = await connection.tended { _ in
                do { return .success(try await body()) } catch { return .failure(error) }
            }
            await time.sleep(for: .seconds(1), "the last state to be seen")
            group.cancelAll()
            return result
        }
        try result.get()
        return seen.withLock { $0 }
    }
}
