import Base
import Commands
import Manifest
import Operations
import Store

/// `validate`: the faults of a manifest and of the files it names.
struct ValidateCommand {
    let manifest: String
    let common: CommonOptions
    /// Whether keys, tokens and images of this machine are checked.
    let looksAtFiles: Bool

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        common = try CommonOptions(invocation, context)
        looksAtFiles = !invocation[Command.withoutFiles]
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let read = try Inputs.read(manifest, common)
        let plan = read.plan
        // Even with errors in the manifest, its readable part is checked.
        let machine = try read.draft.map { (draft) throws(CommandError) in
            try findings(draft, isWhole: plan != nil, context)
        }
        let tokens = plan.map { TokenCheck($0, context).findings() } ?? TokenCheck.Findings()
        let diagnostics = read.diagnostics.adding(
            (plan?.remarks ?? []) + (machine ?? []).map(\.diagnostic) + tokens.faults,
            main: manifest
        )
        let lack = machine.flatMap { MachineCheck.refusal($0, manifest) }
        let code: ExitCode =
            plan == nil
            ? .invalidManifest : tokens.faults.isEmpty ? lack?.exitCode ?? .done : .trustRefused
        if common.wantsJSON {
            context.console.result(document(diagnostics, code).text + "\n")
            return code
        }
        if !common.isQuiet || code != .done { Inputs.tell(diagnostics, context) }
        guard let plan else { throw Inputs.invalid(manifest, diagnostics) }
        guard tokens.faults.isEmpty else { throw TokenCheck.refusal(tokens.faults) }
        if let lack { throw lack }
        if !common.isQuiet {
            context.show(
                "\(manifest): valid: \(counted(plan.vehicles.count, "vehicle")), "
                    + "\(counted(plan.images.count, "image")), plan \(plan.digest)\n"
            )
        }
        return .done
    }

    /// The faults of this machine that would prevent a run of the plan.
    private func findings(
        _ plan: FrozenPlan,
        isWhole: Bool,
        _ context: Context
    ) throws(CommandError) -> [MachineCheck.Finding] {
        guard looksAtFiles else { return [] }
        let check = MachineCheck(
            plan: plan,
            context: context,
            profiles: try ProfileFolder.library(of: plan, common, context),
            state: StateLocation.path(flag: nil, environment: context.variable),
            isRun: false,
            isWhole: isWhole
        )
        return check.findings(for: plan.vehicles) + check.shares()
    }

    private func document(_ diagnostics: [Diagnostic], _ code: ExitCode) -> JSONValue {
        .object([
            "schema": 1,
            "manifest": .string(manifest),
            "valid": .bool(code == .done),
            "diagnostics": .array(diagnostics.map(\.document)),
            "exit": code.json,
        ])
    }
}

extension Diagnostic {
    /// The members in documents.
    var document: JSONValue {
        .object([
            "severity": .string(severity.rawValue),
            "file": .string(place.file),
            "line": .integer(Int64(place.line)),
            "column": .integer(Int64(place.column)),
            "message": .string(message),
            "hint": hint.map { .string($0) },
        ])
    }
}
