package import Domain

/// One adapter in the role that scans and connects.
///
/// Every implementation passes the same contract suite. A cancelled task gets `cancelled` from
/// whatever it awaits here. Nothing but the advertised identity survives a link.
package protocol Central: Sendable {
    /// What the operator calls the adapter, such as `hci0`.
    var adapter: String { get }

    /// Scans for as long as `body` runs. Overlapping calls share one scanner.
    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R

    /// Makes a link, a bond where the policy wants one, and finds the services, or throws by the
    /// deadline with nothing left behind.
    ///
    /// A peer that another program is connected to stays with that: `heldByAnother`.
    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link

    /// Drops what the host remembers about a peer: its services may have changed.
    func forget(_ peer: Peer) async
}

/// Advertisements as they come; holds a bounded number and drops the oldest.
package protocol Scan: Sendable {
    /// The next advertisement, or `timedOut` at the deadline.
    func next(before deadline: Moment) async throws(RadioError) -> Advertisement
}

/// A connection to one peer.
///
/// Once lost it stays lost, and every call throws `linkLost`.
package protocol Link: AnyObject, Sendable {
    var peer: Peer { get }

    /// The most that one write or notification carries: ATT MTU - 3, and at most 512.
    var maximumLength: Int { get }

    /// What was found on this link; nil when the characteristic is absent.
    func flags(of characteristic: Characteristic) -> CharacteristicFlags?

    /// Throws unless the peer has the characteristic, and says which part is missing.
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

    /// Writes without a response: returns when the packet is queued, waits while the queue is
    /// full. Sent is not received; only the peer's own words say what has arrived.
    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError)

    /// Queues packets of `length` bytes, the last one as long as what is left, as far as there is room
    /// for them now, and returns how many bytes that were.
    ///
    /// Nothing is waited for: what is left is for `send`. Zero where a radio does not know its room.
    func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int

    /// Switches notifications or indications on. Nothing sent after that is missed, up to the
    /// bound of the subscription.
    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription

    /// Ends the link. Safe to call again, and on a link that is lost.
    func disconnect() async
}

/// What a peer notifies, in order.
package protocol Subscription: Sendable {
    /// The next value, `timedOut` at the deadline, or `linkLost` once all values that came before
    /// the loss are taken.
    func next(before deadline: Moment) async throws(RadioError) -> [UInt8]
}

extension Central {
    package func connect(
        to peer: Peer,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        try await connect(to: peer, .unbonded, before: deadline)
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
