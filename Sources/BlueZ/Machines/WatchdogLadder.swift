/// The steps to take when an adapter scans and hears nothing.
///
/// The cause may be a deaf adapter or an empty yard: each step is taken once, and again only after
/// something was heard.
package struct WatchdogLadder: Equatable {
    package enum Step: Equatable { case restartScan, cyclePower, report }

    package init() {}

    private var next: Step? = .restartScan

    package mutating func heard() { next = .restartScan }

    /// Called each time a scan has been silent for too long.
    ///
    /// An adapter with open links is never switched off.
    package mutating func silent(mayCyclePower: Bool) -> Step? {
        switch next {
        case .restartScan:
            next = mayCyclePower ? .cyclePower : .report
            return .restartScan
        case .cyclePower:
            next = .report
            return mayCyclePower ? .cyclePower : nil
        case .report:
            next = nil
            return .report
        case nil: return nil
        }
    }
}
