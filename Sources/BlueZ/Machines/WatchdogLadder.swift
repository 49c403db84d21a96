/// What to do about an adapter that scans and hears nothing.
///
/// Silence may be a deaf adapter or an empty yard: each rung is taken once, and again only after
/// something was heard.
package struct WatchdogLadder: Equatable {
    package enum Step: Equatable { case restartScan, cyclePower, report }

    package init() {}

    private var next: Step? = .restartScan

    package mutating func heard() { next = .restartScan }

    /// Called each time the patience with a silent scan has run out.
    ///
    /// An adapter that carries links is not switched off under them.
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
