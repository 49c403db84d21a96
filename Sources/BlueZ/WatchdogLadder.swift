/// What to do about an adapter that scans and hears nothing.
///
/// Silence may be a deaf adapter or an empty yard: each rung is taken once, and again only after
/// something was heard.
struct WatchdogLadder: Equatable {
    enum Step: Equatable { case restartScan, cyclePower, report }

    private var next: Step? = .restartScan

    mutating func heard() { next = .restartScan }

    /// Called each time the patience with a silent scan has run out.
    ///
    /// An adapter that carries links is not switched off under them.
    mutating func silent(mayCyclePower: Bool) -> Step? {
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
