package import Base
import Glibc
import Synchronization

/// Writes text to descriptors in order, on a thread of its own.
///
/// A stopped terminal or a slow reader blocks the writer. Radio work must not wait for it, so text
/// is queued here and the caller continues.
package final class Outlet: TextOutlet {
    /// The limit for queued text that may be dropped.
    private static let limit = 1 << 20

    private struct Piece {
        let text: String
        let descriptor: CInt
    }

    private struct State {
        var pieces: [Piece] = []
        var waiting = 0
        var dropped = 0
        var failures: [CInt: CInt] = [:]
        /// No further text will come.
        var isFinished = false
    }

    /// A reader that takes nothing for so long after a signal is not waited for any more.
    static let patienceAfterSignal = Duration.seconds(5)

    private let state = Mutex(State())
    private let executor: ThreadExecutor
    /// For so long after the end a reader may take nothing; nil for no limit.
    private let patience: Duration?
    private let rings: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation

    private init(executor: ThreadExecutor, patience: Duration?) {
        self.executor = executor
        self.patience = patience
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package static func open(
        name: String,
        patience: Duration? = nil
    ) throws(ThreadError) -> Outlet {
        Outlet(executor: try ThreadExecutor.start(name: name), patience: patience)
    }

    package func write(_ text: String, to descriptor: CInt, mayDrop: Bool) {
        state.withLock { state in
            guard state.failures[descriptor] == nil else { return }
            guard !mayDrop || state.waiting < Self.limit else {
                state.dropped += 1
                return
            }
            state.pieces.append(Piece(text: text, descriptor: descriptor))
            state.waiting += text.utf8.count
        }
        bell.yield()
    }

    /// No further text will be queued.
    package func finish() {
        state.withLock { $0.isFinished = true }
        bell.finish()
    }

    /// Whether a reader that has taken nothing since `begin` is given up: only when the work is over.
    private func isGivenUp(since begin: Moment) -> Bool {
        guard state.withLock({ $0.isFinished }) else { return false }
        guard let most = Signals.isStopRequested ? Self.patienceAfterSignal : patience else {
            return false
        }
        return begin.duration(to: RealTime().now) > most
    }

    /// Writes until `finish` was called and everything is written; to be run once, beside the work.
    package func pump() async {
        await Writer(outlet: self, executor: executor).run()
        executor.stop()
    }

    package func failure(of descriptor: CInt) -> String? {
        Descriptor.reason(state.withLock { $0.failures[descriptor] })
    }

    /// The part that runs on the thread.
    private actor Writer {
        nonisolated let executor: ThreadExecutor
        let outlet: Outlet

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        init(outlet: Outlet, executor: ThreadExecutor) {
            self.outlet = outlet
            self.executor = executor
        }

        func run() async {
            for await _ in outlet.rings { writeAll() }
            writeAll()
        }

        private func writeAll() {
            let (pieces, dropped) = outlet.state.withLock { state in
                defer { (state.pieces, state.dropped) = ([], 0) }
                return (state.pieces, state.dropped)
            }
            for piece in pieces {
                let bytes = Array(piece.text.utf8)
                let isGone = outlet.state.withLock { $0.failures[piece.descriptor] != nil }
                let begin = RealTime().now
                let failure =
                    isGone
                    ? nil
                    : Descriptor.write(bytes, to: piece.descriptor) {
                        outlet.isGivenUp(since: begin)
                    }
                outlet.state.withLock { state in
                    state.waiting -= bytes.count
                    if let failure { state.failures[piece.descriptor] = failure }
                }
            }
            if dropped > 0 {
                let note = "yardmaster: \(dropped) messages were left out: the reader is too slow\n"
                _ = Descriptor.write(Array(note.utf8), to: STDERR_FILENO)
            }
        }
    }
}
