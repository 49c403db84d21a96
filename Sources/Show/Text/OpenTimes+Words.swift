package import Base

extension [OpenTimes.Span] {
    /// When a window opens next, in a sentence; nil when it does not.
    package func words(_ time: (WallTime) -> String) -> String? {
        guard !isEmpty else { return nil }
        let list = map { "\(time($0.opens)) for \($0.opens.duration(to: $0.closes).brief)" }
        return "the window opens next at " + list.joined(separator: ", ")
    }
}
