import Base
import Commands
import Images
import Manifest
import Operations
import Show

/// `bundle show`: the parts of a bundle.
struct BundleShowCommand {
    static func run(_ invocation: Invocation, _ context: Context) throws(CommandError) -> ExitCode {
        try print(BundleFile(invocation.arguments[0]), CommonOptions(invocation), context)
        return .done
    }

    static func print(
        _ bundle: BundleFile,
        _ common: CommonOptions,
        _ context: Context
    ) throws(CommandError) {
        // What cannot be read is told by the commands that use it.
        let programs = (try? BundlePlan(bundle) { _ in })?.plan.programs ?? []
        if common.wantsJSON {
            let members = bundle.index.members.map { member in
                JSONValue.object([
                    "name": .string(member.name),
                    "size": .integer(member.size),
                    "sha256": .string(member.digest.description),
                    "held": .bool(member.isHeld),
                ])
            }
            let document = JSONValue.object([
                "schema": 1,
                "digest": .string(bundle.index.digest.description),
                "base": bundle.index.base.map { .string($0.description) },
                "created": .string(bundle.index.created.description),
                "members": .array(members),
                "programs": .array(programs.map(\.document)),
                "exit": ExitCode.done.json,
            ])
            context.console.result(document.text + "\n")
            return
        }
        let rows = bundle.index.members.map { member in
            [
                member.name.visible, ByteCount(bytes: Int(member.size))?.description ?? "",
                member.isHeld ? "from an earlier bundle" : "here", member.digest.description,
            ]
        }
        let lines =
            ["bundle made \(bundle.index.created), \(bundle.index.digest)"]
            + (bundle.index.base.map { ["adds to the bundle \($0)"] } ?? [])
            + Columns.table([["part", "size", "bytes", "sha256"]] + rows)
            + programs.map { "starts \($0.purpose.visible): \($0.line)" }
        context.show(lines.joined(separator: "\n") + "\n")
    }
}
