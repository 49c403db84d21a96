import Operations
import Show
import Synchronization

/// How much of something is done, on a terminal.
final class PercentDisplay: Sendable {
    private let isLive: Bool
    private let context: Context
    private let shown = Mutex(-1)

    init(_ common: CommonOptions, _ context: Context) {
        isLive = !common.isQuiet && context.style(noColor: common.noColor).isLive
        self.context = context
    }

    func show(_ what: String, _ done: Int64, _ total: Int64) {
        guard isLive, total > 0 else { return }
        let percent = Int(done * 100 / total)
        shown.withLock { shown in
            guard percent != shown else { return }
            shown = percent
            context.console.note("\r\(what): \(percent) %\u{1B}[K")
        }
    }

    func end() {
        shown.withLock { shown in
            if shown >= 0 { context.console.note("\r\u{1B}[K") }
            shown = -1
        }
    }
}
