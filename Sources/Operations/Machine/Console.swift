import Glibc
import Show
import Synchronization

/// The two standard streams; everything in the program writes to them through this.
package struct Console: Sendable {
    let outlet: any TextOutlet
    /// Whether standard error is the service manager's journal, which reads a level before each
    /// line.
    let isJournal: Bool

    package init(_ outlet: any TextOutlet, isJournal: Bool = JournalSocket.takesStandardError) {
        self.outlet = outlet
        self.isJournal = isJournal
    }

    /// Writes a result to standard output.
    package func result(_ text: String) { outlet.write(text, to: STDOUT_FILENO, mayDrop: false) }

    /// Writes progress and warnings to standard error; they may be dropped rather than kept without
    /// limit.
    package func note(_ text: String) {
        outlet.write(isJournal ? Self.levelled(text) : text, to: STDERR_FILENO, mayDrop: true)
    }

    /// Each line with its level in the form of sd-daemon(3), so that errors stand out in the
    /// journal.
    package static func levelled(_ text: String) -> String {
        let level = text.contains("error: ") ? 3 : text.contains("warning: ") ? 4 : 6
        return text.split(separator: "\n").map { "<\(level)>\($0)\n" }.joined()
    }

    func write(_ outputs: [Output]) {
        for output in outputs {
            switch output.stream {
            case .out: result(output.text)
            case .err: note(output.text)
            }
        }
    }
}

/// Takes text for a descriptor.
package protocol TextOutlet: Sendable {
    /// Queues text to be written; text with `mayDrop` may be left out when a reader is too slow.
    func write(_ text: String, to descriptor: CInt, mayDrop: Bool)

    /// Why the descriptor takes no more text; nil while it does, or when its reader just went away.
    func failure(of descriptor: CInt) -> String?
}

/// Writes immediately: for commands without work that must not wait for a reader.
package final class DirectOutlet: TextOutlet {
    private let failures = Mutex<[CInt: CInt]>([:])

    package init() {}

    package func write(_ text: String, to descriptor: CInt, mayDrop: Bool) {
        failures.withLock { failures in
            guard failures[descriptor] == nil else { return }
            if let failure = Descriptor.write(Array(text.utf8), to: descriptor) {
                failures[descriptor] = failure
            }
        }
    }

    package func failure(of descriptor: CInt) -> String? {
        Descriptor.reason(failures.withLock { $0[descriptor] })
    }
}
