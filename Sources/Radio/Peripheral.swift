package import Domain

/// One adapter in the role that advertises and is connected to.
package protocol Peripheral: Sendable {
    var adapter: String { get }

    /// Puts a service on the air for as long as `body` runs; all of it is gone afterwards.
    func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R
}

/// A service with one way out and one way in, which is all that a car-share socket needs.
package struct ServiceDescription: Sendable, Equatable {
    package let uuid: GATTUUID
    /// Ours to notify on.
    package let notify: GATTUUID
    /// The central's to write on, with or without response.
    package let write: GATTUUID
    /// Whether centrals may pair with us, and how.
    package let bond: BondPolicy

    package init(
        uuid: GATTUUID,
        notify: GATTUUID,
        write: GATTUUID,
        bond: BondPolicy = .unbonded
    ) {
        self.bond = bond
        self.uuid = uuid
        self.notify = notify
        self.write = write
    }
}

package protocol PublishedService: Sendable {
    /// Advertises the service until a central subscribes, then stops and lends the link to it.
    ///
    /// One central at a time: others are not answered. Throws `timedOut` at the deadline.
    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink
}

/// A central that has subscribed to our notifications.
package protocol CentralLink: AnyObject, Sendable {
    /// The most that one notification carries to this central.
    var maximumLength: Int { get }

    /// Notifies; returns when the value is queued and waits while the queue is full.
    func notify(_ bytes: [UInt8]) async throws(RadioError)

    /// The next value the central wrote, `timedOut` at the deadline, or `linkLost` when it
    /// unsubscribed or went away and all that came before is taken.
    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8]

    /// Ends the link from our side.
    func disconnect() async
}
