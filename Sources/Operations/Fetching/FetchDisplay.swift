import Images
import Manifest
import Show
import Synchronization

/// Shows on standard error how the images of a plan are fetched.
///
/// A terminal gets a line for each image in progress and one for all; a log gets a line for each
/// event, and at most one in ten seconds for each image.
final class FetchDisplay: Sendable {
    private let printer: Mutex<FetchPrinter>
    private let context: Context
    private let time: FetchTime
    private let isQuiet: Bool

    init(_ preparation: ImagePreparation, _ time: FetchTime) {
        context = preparation.context
        self.time = time
        isQuiet = preparation.common.isQuiet
        let style = preparation.context.style(noColor: preparation.common.noColor)
        printer = Mutex(
            FetchPrinter(
                preparation.plan.images.map { FetchPrinter.Row(name: $0.name, size: $0.size) },
                isLive: style.isLive,
                isUnicode: style.isUnicode,
                tellsLocalFiles: preparation.tellsLocalFiles
            )
        )
    }

    func take(_ progress: FetchProgress, of index: Int) {
        show { $0.take(progress, of: index, at: time.now) }
    }

    func tick() {
        let width = context.columns ?? 80
        show { $0.draw(width: width, at: time.now) }
    }

    func end() { show { $0.end() } }

    private func show(_ body: (inout sending FetchPrinter) -> String) {
        guard !isQuiet else { return }
        let text = printer.withLock { body(&$0) }
        if !text.isEmpty { context.console.note(text) }
    }
}
