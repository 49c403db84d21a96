import Glibc
import Reports
import Synchronization

/// The two standard streams, as everything in the program writes to them.
struct Console: Sendable {
    let outlet: any TextOutlet

    /// What was asked for, to standard output.
    func result(_ text: String) { outlet.write(text, to: STDOUT_FILENO, mayDrop: false) }

    /// Progress and warnings, to standard error: better lost than kept without end.
    func note(_ text: String) { outlet.write(text, to: STDERR_FILENO, mayDrop: true) }

    func write(_ outputs: [Output]) {
        for output in outputs {
            switch output.stream {
            case .out: result(output.text)
            case .err: note(output.text)
            }
        }
    }
}

/// Where text for a descriptor is left.
protocol TextOutlet: Sendable {
    /// Leaves text to be written; what `mayDrop` may be left out when a reader is too slow.
    func write(_ text: String, to descriptor: CInt, mayDrop: Bool)

    /// Why the descriptor takes no more, nil while it does or when its reader just went away.
    func failure(of descriptor: CInt) -> String?
}

/// Writes at once: for commands that have no work that must not wait for a reader.
final class DirectOutlet: TextOutlet {
    private let failures = Mutex<[CInt: CInt]>([:])

    func write(_ text: String, to descriptor: CInt, mayDrop: Bool) {
        failures.withLock { failures in
            guard failures[descriptor] == nil else { return }
            if let failure = Descriptor.write(Array(text.utf8), to: descriptor) {
                failures[descriptor] = failure
            }
        }
    }

    func failure(of descriptor: CInt) -> String? {
        Descriptor.reason(failures.withLock { $0[descriptor] })
    }
}
