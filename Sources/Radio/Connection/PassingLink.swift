package import Base

/// A link that passes all calls on to another one.
///
/// Its type says what differs: where a characteristic is on the other link, and whether anything
/// may be sent at all.
package protocol PassingLink: Link {
    var link: any Link { get }

    func place(_ characteristic: Characteristic) -> Characteristic

    /// Called before each exchange; throws instead of it.
    func pass() throws(RadioError)
}

extension PassingLink {
    package func place(_ characteristic: Characteristic) -> Characteristic { characteristic }

    package func pass() throws(RadioError) {}

    package var peer: Peer { link.peer }
    package var maximumLength: Int { link.maximumLength }

    package func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        link.flags(of: place(characteristic))
    }

    package func require(_ characteristic: Characteristic) throws(RadioError) {
        try link.require(place(characteristic))
    }

    package func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try pass()
        return try await link.read(place(characteristic), before: deadline)
    }

    package func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try pass()
        try await link.write(bytes, to: place(characteristic), before: deadline)
    }

    package func send(
        _ bytes: [UInt8],
        to characteristic: Characteristic
    ) async throws(RadioError) {
        try pass()
        try await link.send(bytes, to: place(characteristic))
    }

    package func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int {
        try pass()
        return try await link.queue(bytes, in: length, to: place(characteristic))
    }

    package func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        try pass()
        return PassingSubscription(
            subscription: try await link.subscribe(to: place(characteristic), before: deadline),
            link: self
        )
    }

    package func disconnect() async { await link.disconnect() }

    fileprivate var passes: Bool {
        do throws(RadioError) { try pass() } catch { return false }
        return true
    }
}

/// What is said at once passes the link, too.
private struct PassingSubscription<Passing: PassingLink>: Subscription {
    let subscription: any Subscription
    let link: Passing

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await subscription.next(before: deadline)
    }

    func next(
        before deadline: Moment,
        _ listener: @escaping Listener
    ) async throws(RadioError) {
        try await subscription.next(before: deadline) { value, say in
            listener(value) { packet in link.passes && say(packet) }
        }
    }
}
