package import Base
package import Radio

/// One simulated adapter in both roles.
package struct SimulatedRadio: Central, Peripheral {
    package let adapter: String
    private let air: Air

    package init(adapter: String, air: Air) {
        self.adapter = adapter
        self.air = air
    }

    package func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        let id = try await air.on { (air) throws(RadioError) in
            try air.startScan(adapter, filter)
        }
        let result = await Result { () async throws(RadioError) -> R in
            try await body(SimulatedScan(air: air, adapter: adapter, id: id))
        }
        await air.on { $0.stopScan(adapter, id) }
        return try result.get()
    }

    package func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        let facts = try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.connect(adapter, peer, policy, pending)
        }
        return SimulatedLink(peer: peer, air: air, facts: facts)
    }

    /// Does nothing: the simulated air stores nothing about a peer.
    package func forget(_ peer: Peer) async {}

    package func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        let number = try await air.on { (air) throws(RadioError) in
            try air.publish(adapter, service)
        }
        let result = await Result { () async throws(RadioError) -> R in
            try await body(SimulatedService(air: air, number: number))
        }
        await air.on { $0.withdraw(number) }
        return try result.get()
    }
}

private struct SimulatedScan: Scan {
    let air: Air
    let adapter: String
    let id: Int

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.nextAdvertisement(adapter, id, pending)
        }
    }
}

/// A link in simulated air.
package final class SimulatedLink: Link {
    package let peer: Peer
    package let maximumLength: Int
    private let air: Air
    private let number: Int
    private let found: [Characteristic: CharacteristicFlags]

    fileprivate init(peer: Peer, air: Air, facts: AirLinkFacts) {
        self.peer = peer
        self.air = air
        number = facts.number
        maximumLength = facts.maximumLength
        found = facts.found
    }

    deinit { air.release(number) }

    /// Whether it is still up: for code between this link and another one.
    package var isUp: Bool { get async { await air.on { $0.isUp(number) } } }

    package func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        found[characteristic]
    }

    package func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try require(characteristic)
        return try await request(.read(characteristic), before: deadline)
    }

    package func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try require(characteristic)
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        _ = try await request(.write(bytes, characteristic), before: deadline)
    }

    package func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError)
    {
        try require(characteristic)
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        _ = try await air.wait(before: nil) { (air, pending) throws(RadioError) in
            try air.send(number, bytes, to: characteristic, pending)
        }
    }

    package func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int {
        try require(characteristic)
        guard length <= maximumLength else { throw .tooLong(limit: maximumLength) }
        return try await air.on { (air) throws(RadioError) in
            try air.queue(number, bytes, in: length, to: characteristic)
        }
    }

    package func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        try require(characteristic)
        _ = try await request(.subscribe(characteristic), before: deadline)
        return SimulatedSubscription(air: air, number: number, characteristic: characteristic)
    }

    package func disconnect() async { await air.on { $0.disconnect(number) } }

    private func request(
        _ request: AirLink.Request,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.request(number, request, pending)
        }
    }
}

private struct SimulatedSubscription: Subscription {
    let air: Air
    let number: Int
    let characteristic: Characteristic

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.nextNotification(number, characteristic, pending)
        }
    }
}

private struct SimulatedService: PublishedService {
    let air: Air
    let number: Int

    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink {
        let visit = try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.nextCentral(number, pending)
        }
        let facts = try await air.on { (air) throws(RadioError) in
            try air.receive(visit, at: number)
        }
        return SimulatedCentralLink(air: air, facts: facts)
    }
}

private final class SimulatedCentralLink: CentralLink {
    let maximumLength: Int
    private let air: Air
    private let number: Int

    init(air: Air, facts: AirVisitFacts) {
        self.air = air
        number = facts.number
        maximumLength = facts.maximumLength
    }

    func notify(_ bytes: [UInt8]) async throws(RadioError) {
        _ = try await air.wait(before: nil) { (air, pending) throws(RadioError) in
            try air.notifyCentral(number, bytes, pending)
        }
    }

    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await air.wait(before: deadline) { (air, pending) throws(RadioError) in
            try air.nextWrite(number, pending)
        }
    }

    func disconnect() async { await air.on { $0.endVisit(number) } }
}
