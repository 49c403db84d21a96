package import Base
package import Radio

/// An implementation of the radio, with what the contract needs to test it.
package protocol ContractBench: Sendable {
    var central: any Central { get }
    var peripheral: any Peripheral { get }
    var time: any Timekeeper { get }

    /// Causes an event that code cannot cause through the radio.
    func cause(_ incident: ContractIncident) async
}

/// Events around a radio during the contract.
package enum ContractIncident: Sendable {
    case adapterOff, adapterOn, stackRestart
    case peerLeaves, peerReturns, peerChangesAddress
    case peerRefusesLinks(Int)
    case visitorLeaves, visitorStopsLooking
}

/// A clause that does not hold, with the expected and the actual result.
package struct ContractViolation: Error, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// One clause of the contract of every radio.
package struct ContractClause: Sendable, CustomStringConvertible {
    package let description: String
    private let body: @Sendable (any ContractBench) async throws -> Void

    init(
        _ description: String,
        _ body: @escaping @Sendable (any ContractBench) async throws -> Void
    ) {
        self.description = description
        self.body = body
    }

    package func hold(on bench: any ContractBench) async throws { try await body(bench) }
}

package enum RadioContract {
    package static let clauses: [ContractClause] = centralClauses + peripheralClauses
}

// MARK: Functions for clauses

func expect(_ condition: Bool, _ expectation: String) throws(ContractViolation) {
    guard condition else { throw ContractViolation(expectation) }
}

/// Fails unless `body` throws exactly this error.
func expect<R>(
    _ expected: RadioError,
    _ expectation: String,
    from body: () async throws(RadioError) -> R
) async throws(ContractViolation) {
    do {
        _ = try await body()
    } catch {
        guard error == expected else {
            throw ContractViolation("\(expectation): expected \(expected), got \(error)")
        }
        return
    }
    throw ContractViolation("\(expectation): expected \(expected), got none")
}

extension ContractBench {
    func soon(_ duration: Duration = .seconds(10)) -> Moment { time.now.advanced(by: duration) }

    /// Scans until the peer is heard.
    func findPeer() async throws(RadioError) -> Advertisement {
        let deadline = soon(.seconds(30))
        return try await central.withScan(ScanFilter(companies: [ContractPeer.company])) {
            scan throws(RadioError) in
            try await scan.next(before: deadline)
        }
    }

    func connectToPeer() async throws(RadioError) -> any Link {
        try await central.connect(to: findPeer().peer, before: soon(.seconds(30)))
    }
}
