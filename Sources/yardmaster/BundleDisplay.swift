import Operations
import Show

/// The progress of reading a bundle, on a terminal.
final class BundleDisplay {
    private let isLive: Bool
    private let context: Context
    private var shown = -1

    init(_ common: CommonOptions, _ context: Context) {
        isLive = !common.isQuiet && context.style(noColor: common.noColor).isLive
        self.context = context
    }

    func show(_ what: String, _ done: Int64, _ total: Int64) {
        guard isLive, total > 0 else { return }
        let percent = Int(done * 100 / total)
        guard percent != shown else { return }
        shown = percent
        context.console.note("\r\(what): \(percent) %\u{1B}[K")
    }

    func end() {
        if shown >= 0 { context.console.note("\r\u{1B}[K") }
        shown = -1
    }
}
