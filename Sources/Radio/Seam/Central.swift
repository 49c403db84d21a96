package import Base

/// One adapter in the role that scans and connects.
///
/// Every implementation passes the same contract suite. Cancelling a task makes its current call
/// here throw `cancelled`. Nothing but the advertised identity survives a link.
package protocol Central: Sendable {
    /// The operator's name for the adapter, such as `hci0`.
    var adapter: String { get }

    /// Scans for as long as `body` runs. Overlapping calls share one scanner.
    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R

    /// Makes a link, makes a bond if the policy requires one, and finds the services.
    ///
    /// On failure it throws by the deadline and leaves nothing behind.
    ///
    /// A peer that another program is connected to stays connected to that program:
    /// `heldByAnother`.
    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link

    /// Drops the host's data about a peer: its services may have changed.
    func forget(_ peer: Peer) async
}

/// A stream of advertisements, which keeps a limited number and drops the oldest.
package protocol Scan: Sendable {
    /// The next advertisement; throws `timedOut` at the deadline.
    func next(before deadline: Moment) async throws(RadioError) -> Advertisement
}

/// A connection to one peer.
///
/// Once the link is lost it stays lost, and every call throws `linkLost`.
package protocol Link: AnyObject, Sendable {
    var peer: Peer { get }

    /// The most bytes in one write or notification: ATT MTU - 3, and at most 512.
    var maximumLength: Int { get }

    /// The flags of a characteristic found on this link; nil when it is absent.
    func flags(of characteristic: Characteristic) -> CharacteristicFlags?

    /// Throws an error that names the missing part, unless the peer has the characteristic.
    func require(_ characteristic: Characteristic) throws(RadioError)

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8]

    /// Writes and waits for the peer's response.
    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError)

    /// Writes without a response: returns when the packet is queued, and waits while the queue is
    /// full.
    ///
    /// A sent packet may not have been received; only the peer's own messages show what has
    /// arrived.
    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError)

    /// Queues packets of `length` bytes, the last one possibly shorter, as long as there is room
    /// for them now; returns the number of queued bytes.
    ///
    /// It does not wait: use `send` for the rest. Zero where a radio does not know its room.
    func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int

    /// Enables notifications or indications.
    ///
    /// Nothing that is sent afterwards is missed, up to the limit of the subscription.
    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription

    /// Ends the link.
    ///
    /// May be called repeatedly, and on a lost link.
    func disconnect() async
}

/// The values that a peer notifies, in order.
package protocol Subscription: Sendable {
    /// The next value; throws `timedOut` at the deadline, or `linkLost` once all values from before
    /// the loss were taken.
    func next(before deadline: Moment) async throws(RadioError) -> [UInt8]

    /// Gives each value to `listener`, and returns once it asks for no more; throws like the other
    /// `next`.
    ///
    /// A radio calls it where the values arrive, so that what it says at once wakes no task.
    func next(before deadline: Moment, _ listener: @escaping Listener) async throws(RadioError)
}

/// Hears a value, and may say packets to the same characteristic; returns whether it waits for
/// another value.
package typealias Listener =
    @Sendable (_ value: [UInt8], _ say: (_ packet: [UInt8]) -> Bool) -> Bool

extension Central {
    package func connect(
        to peer: Peer,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        try await connect(to: peer, .unbonded, before: deadline)
    }
}

extension Subscription {
    package func next(
        before deadline: Moment,
        _ listener: @escaping Listener
    ) async throws(RadioError) {
        while listener(try await next(before: deadline), { _ in false }) {}
    }
}

extension Link {
    package func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int { 0 }

    package func require(_ characteristic: Characteristic) throws(RadioError) {
        guard flags(of: characteristic) == nil else { return }
        throw .missingCharacteristic(characteristic.uuid)
    }
}
