package import Radio

/// An execution's right to an adapter, which it gives back while it only waits.
///
/// Radio time is scarce: while a module restarts or is left at rest, its adapter works on another
/// one. An execution begins with a turn, and never talks to a module without one.
package protocol Airtime: Sendable {
    /// The adapter of this turn; between two turns, the adapter of the last one.
    var central: any Central { get }

    /// How well the vehicle is heard; nil when machines are not compared.
    var nearness: Nearness? { get }

    /// Ends the turn; no link may be open.
    func giveBack()

    /// Waits for the next turn, perhaps on another adapter.
    ///
    /// Returns immediately, without a turn, when the execution is asked to stop.
    func take(for need: AirtimeNeed) async

    /// Waits until this turn may make a link: one in which a restarting module is searched for has
    /// none.
    ///
    /// Returns immediately, without a link, when the execution is asked to stop.
    func takeLink() async

    /// Reports that the adapter of this turn does not work, so that it gets no work for some time.
    func failed(_ error: RadioError)

    /// Reports what the link of this turn shows; true when the adapter may have too many links.
    func shows(_ sign: LinkSign) -> Bool

    /// Whether the adapter has too many links: then this turn ends while no link is open.
    var isExcess: Bool { get }
}

/// What a link shows about the number of links that its adapter carries.
package enum LinkSign: Sendable {
    /// The module has this many bytes of its image.
    case confirmed(Int)
    /// It was lost, or not made.
    case lost
    /// The adapter carries no further link.
    case refused
}

/// The purpose of a turn: the smaller the value, the sooner it is granted.
package enum AirtimeNeed: Int, Comparable, Sendable, CaseIterable {
    /// A module waits in its bootloader, and will not wait forever.
    case bootloader
    /// An update has to be watched until it settles, before its deadline.
    case settling
    /// The next step or attempt on an unchanged module.
    case next
    /// Another search for a module that was not heard.
    case search

    package static func < (left: AirtimeNeed, right: AirtimeNeed) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// One adapter for one execution: there are no others that wait for it.
package struct SoleAirtime: Airtime {
    package let central: any Central

    package init(_ central: any Central) { self.central = central }

    package var nearness: Nearness? { nil }
    package func giveBack() {}
    package func take(for need: AirtimeNeed) async {}
    package func takeLink() async {}
    package func failed(_ error: RadioError) {}
    package func shows(_ sign: LinkSign) -> Bool { false }
    package var isExcess: Bool { false }
}
