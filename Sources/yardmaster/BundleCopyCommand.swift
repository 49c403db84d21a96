import Base
import Commands
import Glibc
import Operations

/// `bundle copy`: copies a bundle and its signatures, verifies each part, and can be continued.
struct BundleCopyCommand {
    private let source: String
    private let destination: String
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) {
        source = invocation.arguments[0]
        destination = invocation.arguments[1]
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() throws(CommandError) -> ExitCode {
        let bundle = try BundleFile(source)
        var status = stat()
        let isFolder = stat(destination, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let path = isFolder ? "\(destination)/\(BundleCopy.name(of: source))" : destination
        var copy = try BundleCopy(of: bundle, to: path)
        let display = PercentDisplay(common, context)
        defer { display.end() }
        let kept = try copy.takeUp { done, total in display.show("verifying", done, total) }
        try copy.bringRest { done, total in display.show("copying", done, total) }
        // Copied first, so that a process that waits for the bundle finds its signatures.
        try copy.copySignatures()
        try copy.publish()
        display.end()
        let document = JSONValue.object([
            "schema": 1,
            "bundle": .string(path),
            "size": .integer(copy.size),
            "kept": .integer(kept),
            "exit": ExitCode.done.json,
        ])
        context.answer(
            common,
            document,
            "\(path.visible): copied=\(copy.size - kept) kept=\(kept) exit=0\n"
        )
        return .done
    }
}
