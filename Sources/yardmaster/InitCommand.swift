import Base
import Commands
import Operations
import Yard

/// `init`: a first manifest, from a scan, a spreadsheet or nothing.
struct InitCommand {
    let invocation: Invocation
    let context: Context

    func run() async throws(CommandError) -> ExitCode {
        let source = try await source()
        var image = invocation[Command.firstImage]
        if image == nil, asks {
            image = try await Question.answer("Image file, or nothing:", context)
        }
        let first = try FirstRollout(invocation, from: source, image: image, context)
        let paths = try await first.write()
        if let code = Signals.exitCode { return code }
        let code: ExitCode = paths.isEmpty ? .someMissed : .done
        if paths.isEmpty {
            context.console.note(
                "yardmaster: no module was heard that can be listed; nothing was written\n"
            )
        }
        context.answer(
            CommonOptions(invocation),
            .object([
                "schema": 1, "files": .array(paths.map { .string($0) }), "exit": code.json,
            ]),
            paths.map { "\($0) written\n" }.joined()
        )
        return code
    }

    private func source() async throws(CommandError) -> FirstRollout.Source {
        let list = invocation[Command.existingList]
        switch (invocation[Command.scanned], list) {
        case (true, .some):
            throw CommandError(.usage, "--scan and --list cannot be used together")
        case (true, nil): return .scan
        case (false, .some(let path)): return .list(path)
        case (false, nil):
            guard asks else { return .example }
            if try await Question.agrees("List the modules in range?", context) { return .scan }
            let path = try await Question.answer("Fleet list (CSV), or nothing:", context)
            return path.map(FirstRollout.Source.list) ?? .example
        }
    }

    private var asks: Bool {
        Question.isPossible(context) && !invocation[Command.quiet] && !invocation[Command.json]
    }
}
