import Base
import Commands
import Images
import Manifest
import Operations
import Rollout
import Show
import Store

/// `images`: lists the image store, verifies it, and removes what is no longer needed.
struct ImagesCommand {
    enum Action: Sendable {
        case list, verify
        case prune(forgetting: [String])
    }

    let action: Action
    let state: String
    let common: CommonOptions
    let context: Context

    init(
        _ action: Action,
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) {
        self.action = action
        state = try CommonOptions.stateDirectory(
            invocation,
            context,
            toLook: invocation.command == .imagesList
        )
        common = CommonOptions(invocation)
        self.context = context
    }

    private struct Line {
        let entry: ImageInventory.Entry
        let state: String
        let users: [String]
    }

    func run() throws(CommandError) -> ExitCode {
        do throws(StateDirectoryError) { _ = try StateDirectory.existing(at: state) } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "nothing was fetched there yet; name another directory with --state DIR"
            )
        }
        let folder = StoreFolder(stateDirectory: state)
        do throws(ImageError) {
            switch action {
            case .list: return try list(folder)
            case .verify: return try verify(folder)
            case .prune: break
            }
        } catch { throw FetchFailure.refusal(ofStore: error) }
        guard case .prune(let rollouts) = action else { return .done }
        let open = try OpenRollouts.images(in: state)
        let spared = try OpenRollouts.owed(in: state).union(open.values.joined())
        for rollout in rollouts where open[rollout] != nil {
            context.console.note(
                "yardmaster: warning: the rollout \(rollout.visible) is not over: its images stay\n"
            )
        }
        do throws(ImageError) {
            return try prune(folder, forgetting: rollouts, sparing: spared)
        } catch { throw FetchFailure.refusal(ofStore: error) }
    }

    private func list(_ folder: StoreFolder) throws(ImageError) -> ExitCode {
        show(try lines(folder) { $0.isPart ? "unfinished" : "whole" }, .done)
        return .done
    }

    /// Reads every image again; one that does not match its name is reported, and the exit code is
    /// 77.
    private func verify(_ folder: StoreFolder) throws(ImageError) -> ExitCode {
        let inventory = ImageInventory(folder)
        let lines = try lines(folder) { (entry) throws(ImageError) in
            if entry.isPart { return "unfinished" }
            return try inventory.isRight(entry) ? "right" : "damaged"
        }
        let isRight = lines.allSatisfy { $0.state != "damaged" }
        let code = isRight ? ExitCode.done : .trustRefused
        show(lines, code)
        if !isRight, !common.wantsJSON {
            context.console.note(
                "yardmaster: a damaged image is never used: the next fetch or run replaces it\n"
            )
        }
        return code
    }

    private func prune(
        _ folder: StoreFolder,
        forgetting rollouts: [String],
        sparing spared: Set<SHA256Digest>
    ) throws(ImageError) -> ExitCode {
        guard let lock = try StoreLock(folder, for: .cleaning) else {
            context.console.note(
                "yardmaster: error: the images are in use\n"
                    + "  hint: wait until the run or fetch that uses them has ended\n"
            )
            return .busy
        }
        let references = ImageReferences(folder)
        for rollout in rollouts where try !references.forget(rollout) {
            context.console.note(
                "yardmaster: warning: the rollout \(rollout.visible) is not known\n"
            )
        }
        let removed = try ImageInventory(folder).prune(under: lock, sparing: spared)
        lock.release()
        show(removed.map { Line(entry: $0, state: "removed", users: []) }, .done)
        return .done
    }

    private func lines(
        _ folder: StoreFolder,
        _ state: (ImageInventory.Entry) throws(ImageError) -> String
    ) throws(ImageError) -> [Line] {
        let references = try ImageReferences(folder).all()
        var lines: [Line] = []
        for entry in try ImageInventory(folder).entries() {
            let users = references.filter { $0.digests.contains(entry.digest) }.map(\.rollout)
            lines.append(Line(entry: entry, state: try state(entry), users: users))
        }
        return lines
    }

    private func show(_ lines: [Line], _ code: ExitCode) {
        context.answer(common, document(lines, code), Self.text(lines))
    }

    private static func text(_ lines: [Line]) -> String {
        let rows = lines.map { line in
            [
                line.entry.digest.description, line.entry.size.description, line.state,
                line.users.isEmpty ? "-" : line.users.map(\.visible).joined(separator: ", "),
            ]
        }
        let bytes = lines.reduce(0) { $0 + $1.entry.size.bytes }
        let count =
            "\(counted(lines.count, "image")), \(ByteCount(count: UInt(max(0, bytes))))\n"
        return lines.isEmpty
            ? count : Columns.text(["sha256", "size", "state", "rollouts"], rows) + count
    }

    private func document(_ lines: [Line], _ code: ExitCode) -> JSONValue {
        .object([
            "schema": 1,
            "images": .array(
                lines.map { line in
                    .object([
                        "sha256": .string(line.entry.digest.description),
                        "size": .integer(Int64(line.entry.size.bytes)),
                        "state": .string(line.state),
                        "rollouts": .array(line.users.map { .string($0) }),
                    ])
                }
            ),
            "exit": code.json,
        ])
    }
}
