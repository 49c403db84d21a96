import Glibc
package import Reports
import Synchronization

/// The two standard streams, as everything in the program writes to them.
package struct Console: Sendable {
    package let outlet: any TextOutlet
    /// Whether standard error is the service manager's journal, which takes a level before a line.
    package let isJournal: Bool

    package init(_ outlet: any TextOutlet, isJournal: Bool = JournalSocket.takesStandardError) {
        self.outlet = outlet
        self.isJournal = isJournal
    }

    /// What was asked for, to standard output.
    package func result(_ text: String) { outlet.write(text, to: STDOUT_FILENO, mayDrop: false) }

    /// Progress and warnings, to standard error: better lost than kept without end.
    package func note(_ text: String) {
        outlet.write(isJournal ? Self.levelled(text) : text, to: STDERR_FILENO, mayDrop: true)
    }

    /// Each line after its level as sd-daemon(3) has it: what is wrong stands out in the journal.
    package static func levelled(_ text: String) -> String {
        let level = text.contains("error: ") ? 3 : text.contains("warning: ") ? 4 : 6
        return text.split(separator: "\n").map { "<\(level)>\($0)\n" }.joined()
    }

    package func write(_ outputs: [Output]) {
        for output in outputs {
            switch output.stream {
            case .out: result(output.text)
            case .err: note(output.text)
            }
        }
    }
}

/// Where text for a descriptor is left.
package protocol TextOutlet: Sendable {
    /// Leaves text to be written; what `mayDrop` may be left out when a reader is too slow.
    func write(_ text: String, to descriptor: CInt, mayDrop: Bool)

    /// Why the descriptor takes no more, nil while it does or when its reader just went away.
    func failure(of descriptor: CInt) -> String?
}

/// Writes at once: for commands that have no work that must not wait for a reader.
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
