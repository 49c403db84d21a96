import Commands
import Operations

extension Reach {
    /// What a command for real vehicles may change.
    static let real: Reach = {
        let context = Context(console: Console(DirectOutlet()))
        guard case .run(let invocation)? = try? Parser.parse(["version"]),
            let reach = try? context.reaching(invocation).reach
        else { preconditionFailure("a command without --simulate may replace files") }
        return reach
    }()

    /// A file that may be replaced.
    func own(_ path: String) -> OutsideFile {
        guard let file = file(path) else { preconditionFailure("a command for real vehicles") }
        return file
    }
}
