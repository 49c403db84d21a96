package import Base

extension [OpenTimes.Span] {
    /// When a window opens next, and for how long.
    package func words(_ time: (WallTime) -> String) -> String {
        map { "\(time($0.opens)) for \($0.opens.duration(to: $0.closes).brief)" }
            .joined(separator: ", ")
    }
}
