package import Radio

/// An execution's right to an adapter, which it gives back while it only waits.
///
/// Radio time is the scarce thing: while a module restarts or rests, its adapter works on another
/// one. An execution begins in possession of a turn and never talks to a module without one.
package protocol Airtime: Sendable {
    /// The adapter of this turn; between two turns that of the last one.
    var central: any Central { get }

    /// How well the vehicle is heard; nil when machines are not compared.
    var nearness: Nearness? { get }

    /// Ends the turn; no link may be open any more.
    func giveBack()

    /// Returns when it is our turn again, perhaps on another adapter.
    ///
    /// Returns at once, without a turn, when the execution is asked to stop.
    func take(for need: AirtimeNeed) async

    /// Says that the adapter of this turn does not work, so that it gets no work for a while.
    func failed(_ error: RadioError)
}

/// What a turn is asked for: the smaller, the sooner it is granted.
package enum AirtimeNeed: Int, Comparable, Sendable, CaseIterable {
    /// A module waits in its bootloader, and not forever.
    case bootloader
    /// An update has to be seen through before its deadline.
    case settling
    /// The next step, or the next attempt, on a module that is as it was.
    case next
    /// A module that was not heard when it was sought.
    case search

    package static func < (left: AirtimeNeed, right: AirtimeNeed) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// One adapter for one execution: nobody else waits for it.
package struct SoleAirtime: Airtime {
    package let central: any Central

    package init(_ central: any Central) { self.central = central }

    package var nearness: Nearness? { nil }
    package func giveBack() {}
    package func take(for need: AirtimeNeed) async {}
    package func failed(_ error: RadioError) {}
}
