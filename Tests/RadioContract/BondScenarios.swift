import Base
package import Radio
import Simulation

/// A bench on which a test can set and read the peer's side of bonds.
package protocol BondBench: ContractBench {
    func atPeer<R: Sendable>(_ body: @escaping @Sendable (ContractPeer) -> R) async -> R
}

/// A case of bonding that must have the same result over every radio: how the module pairs, the
/// policy for it, and the expected result.
package struct BondScenario: Sendable, CustomStringConvertible {
    package let description: String
    /// How the module pairs; nil when it cannot.
    let module: AirSecurity.Plan?
    let policy: BondPolicy
    /// The expected error; nil when the module can be used.
    let failure: BondFailure?
    /// The number of pairings that the module counts, over two links.
    let pairings: Int

    private init(
        _ description: String,
        _ module: AirSecurity.Plan?,
        _ policy: BondPolicy,
        _ failure: BondFailure?,
        pairings: Int
    ) {
        self.description = description
        self.module = module
        self.policy = policy
        self.failure = failure
        self.pairings = pairings
    }

    private static func passkey(_ number: UInt32) -> Pairing {
        Passkey(number).map { .passkey($0) } ?? .none
    }

    private static let justWorks = AirSecurity.Plan(.justWorks)
    private static let secret = AirSecurity.Plan(passkey(12_345))
    private static func refusing() -> AirSecurity.Plan {
        var plan = justWorks
        plan.refuses = true
        return plan
    }

    package static let all = [
        BondScenario("nothing is wanted of either", nil, .unbonded, nil, pairings: 0),
        BondScenario(
            "a bond that nobody confirms",
            justWorks,
            BondPolicy(.justWorks),
            nil,
            pairings: 1
        ),
        BondScenario("a bond by passkey", secret, BondPolicy(passkey(12_345)), nil, pairings: 1),
        BondScenario(
            "a wrong passkey",
            secret,
            BondPolicy(passkey(54_321)),
            .wrongPasskey,
            pairings: 0
        ),
        BondScenario(
            "a passkey where nobody asks for one",
            justWorks,
            BondPolicy(passkey(12_345)),
            .passkeyUnused,
            pairings: 0
        ),
        BondScenario(
            "no passkey where one is wanted",
            secret,
            BondPolicy(.justWorks),
            .passkeyNeeded,
            pairings: 1
        ),
        BondScenario(
            "a bond that nobody allows",
            justWorks,
            .unbonded,
            .notConfigured,
            pairings: 0
        ),
        BondScenario(
            "a module that refuses",
            refusing(),
            BondPolicy(.justWorks),
            .refused,
            pairings: 0
        ),
        BondScenario(
            "a module that cannot pair",
            nil,
            BondPolicy(.justWorks),
            .refused,
            pairings: 0
        ),
    ]

    package func hold(on bench: any BondBench) async throws {
        let module = module
        await bench.atPeer { $0.security = module.map { AirSecurity($0) } }
        for _ in 0..<2 {
            let found = try await bench.work(policy)
            try expect(
                found == failure.map { .bond($0) },
                "expected \(failure as Any), got \(found as Any)"
            )
        }
        let made = await bench.atPeer { $0.security?.pairings ?? 0 }
        // A bond of the wrong kind is removed, and may be made again.
        let counts = failure == .passkeyUnused ? 0...2 : pairings...pairings
        try expect(counts.contains(made), "\(pairings) pairings, the module counts \(made)")
    }
}

extension BondBench {
    /// Connects and uses a characteristic; returns the error, if any.
    package func work(_ policy: BondPolicy) async throws -> RadioError? {
        let link: any Link
        let peer = try await findPeer().peer
        do throws(RadioError) {
            link = try await central.connect(to: peer, policy, before: soon(.seconds(30)))
        } catch { return error }
        var found: RadioError?
        do throws(RadioError) {
            try await link.write([1, 2, 3], to: ContractPeer.store, before: soon())
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon())
            try await link.send([7, 8], to: ContractPeer.echo)
            _ = try await echoes.next(before: soon())
        } catch { found = error }
        await link.disconnect()
        return found
    }

    /// A module that has lost its bonds: a new bond is made only where the policy allows it.
    package func loseBonds(mayRenew: Bool) async throws {
        await atPeer { $0.security = AirSecurity(AirSecurity.Plan(.justWorks)) }
        let policy = BondPolicy(.justWorks, mayRenew: mayRenew)
        let first = try await work(policy)
        try expect(first == nil, "the first bond, got \(first as Any)")
        await atPeer { $0.security?.forget() }
        var found: [RadioError?] = []
        // One broken link may be chance, so two of them are needed.
        for _ in 0..<4 where found.last != .some(nil) { found.append(try await work(policy)) }
        let made = await atPeer { $0.security?.pairings ?? 0 }
        if mayRenew {
            try expect(found.last == .some(nil), "the bond is made again, got \(found)")
            try expect(made == 2, "two pairings, the module counts \(made)")
        } else {
            try expect(found.contains(.bond(.lost)), "the loss is reported, got \(found)")
            try expect(!found.contains(nil) && made == 1, "nothing is renewed, got \(found)")
        }
    }
}
