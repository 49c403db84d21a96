import Commands
import Domain
import Images
import Journal
import Manifest
import Reports
import Wire

/// `fetch`: the images of a manifest into the store, and nothing to any vehicle.
struct FetchCommand {
    let options: FetchOptions
    let context: Context

    func run() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        let directory: StateDirectory
        do throws(StateDirectoryError) {
            directory = try StateDirectory.create(at: options.state)
        } catch { throw RunCommand.refusal(error) }
        let room = FetchRoom(
            plan: plan,
            state: directory.path,
            context: context,
            common: options.common,
            tellsLocalFiles: true
        )
        guard let images = try await room.bringAll() else { return room.tellCut() }
        _ = try await TrustDesk.judge(images, of: plan, state: directory.path)
        if options.common.wantsJSON {
            context.console.result(document(plan, images).text + "\n")
        } else if !options.common.isQuiet {
            context.console.result(text(images))
        }
        return .done
    }

    private func text(_ images: [FetchedImage]) -> String {
        let rows = images.map { image in
            [
                image.planned.name, image.isNew ? "fetched" : "in the store",
                image.stored.size.description, image.planned.digest.description,
            ]
        }
        let new = images.count(where: \.isNew)
        return
            (Columns.table([["image", "state", "size", "sha256"]] + rows) + [
                "fetched=\(new) present=\(images.count - new) failed=0 exit=0"
            ]).joined(separator: "\n") + "\n"
    }

    private func document(_ plan: FrozenPlan, _ images: [FetchedImage]) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "images": .array(
                images.map { image in
                    .object([
                        "name": .string(image.planned.name),
                        "sha256": .string(image.planned.digest.description),
                        "size": .integer(Int64(image.stored.size.bytes)),
                        "path": .string(image.stored.path),
                        "state": .string(image.isNew ? "fetched" : "present"),
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}
