import Commands
import Manifest
import Marked
import Wire

/// `validate`: what is wrong with a manifest and the files it names.
struct ValidateCommand {
    let manifest: String
    let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        common = try CommonOptions(invocation, context)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let (plan, found) = try Inputs.read(manifest, common)
        let tokens = plan.map { TokenCheck($0, context).findings() } ?? TokenCheck.Findings()
        let diagnostics = found + tokens.faults
        let code: ExitCode =
            plan == nil ? .invalidManifest : tokens.faults.isEmpty ? .done : .trustRefused
        if common.wantsJSON {
            context.console.result(document(diagnostics, code).text + "\n")
            return code
        }
        if !common.isQuiet || code != .done { Inputs.tell(diagnostics, context) }
        guard let plan else { throw Inputs.invalid(manifest, diagnostics) }
        guard tokens.faults.isEmpty else { throw TokenCheck.refusal(tokens.faults) }
        if !common.isQuiet, let first = tokens.unread.first {
            context.console.note(
                "yardmaster: warning: the tokens of \(tokens.unread.count) vehicles, "
                    + "\(first) the first, cannot be read here and were compared with nothing\n"
            )
        }
        if !common.isQuiet {
            let images = plan.images.count
            context.console.result(
                "\(manifest): valid: \(plan.vehicles.count) "
                    + "vehicle\(plan.vehicles.count == 1 ? "" : "s"), \(images) "
                    + "image\(images == 1 ? "" : "s"), plan \(plan.digest)\n"
            )
        }
        return .done
    }

    private func document(_ diagnostics: [Diagnostic], _ code: ExitCode) -> JSONValue {
        .object([
            "schema": 1,
            "manifest": .string(manifest),
            "valid": .bool(code == .done),
            "diagnostics": .array(
                diagnostics.map { diagnostic in
                    .object([
                        "severity": .string(diagnostic.severity.rawValue),
                        "file": .string(diagnostic.place.file),
                        "line": .integer(Int64(diagnostic.place.line)),
                        "column": .integer(Int64(diagnostic.place.column)),
                        "message": .string(diagnostic.message),
                        "hint": diagnostic.hint.map { .string($0) },
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(code.rawValue)), "reason": .string(code.sentence),
            ]),
        ])
    }
}
