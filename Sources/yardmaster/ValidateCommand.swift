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
        let (plan, diagnostics) = try Inputs.read(manifest, common)
        if common.wantsJSON {
            context.console.result(document(diagnostics, isValid: plan != nil).text + "\n")
            return plan == nil ? .invalidManifest : .done
        }
        if !common.isQuiet || plan == nil { Inputs.tell(diagnostics, context) }
        guard let plan else { throw Inputs.invalid(manifest, diagnostics) }
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

    private func document(_ diagnostics: [Diagnostic], isValid: Bool) -> JSONValue {
        let code: ExitCode = isValid ? .done : .invalidManifest
        return .object([
            "schema": 1,
            "manifest": .string(manifest),
            "valid": .bool(isValid),
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
