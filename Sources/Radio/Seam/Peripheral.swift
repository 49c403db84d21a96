package import Base

/// One adapter in the role that advertises and accepts connections.
package protocol Peripheral: Sendable {
    var adapter: String { get }

    /// Serves a service while `body` runs, and removes it afterwards.
    func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R
}

/// A service with one outgoing and one incoming characteristic, which is all that a car-share
/// socket needs.
package struct ServiceDescription: Sendable, Equatable {
    package let uuid: GATTUUID
    /// The characteristic for our notifications.
    package let notify: GATTUUID
    /// The characteristic for the central's writes, with or without response.
    package let write: GATTUUID
    /// Whether and how centrals may pair with this host.
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
    /// Advertises the service until a central subscribes, then stops and returns the link to it.
    ///
    /// Only one central at a time: others get no answer. Throws `timedOut` at the deadline.
    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink
}

/// A link to a central that has subscribed to our notifications.
package protocol CentralLink: AnyObject, Sendable {
    /// The most bytes in one notification to this central.
    var maximumLength: Int { get }

    /// Sends a notification; returns when the value is queued, and waits while the queue is full.
    func notify(_ bytes: [UInt8]) async throws(RadioError)

    /// The next value that the central wrote.
    ///
    /// Throws `timedOut` at the deadline, or `linkLost` when the central has unsubscribed or
    /// disconnected and all earlier values were taken.
    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8]

    /// Ends the link from our side.
    func disconnect() async
}
