import Base
package import Commands
import Images
import Manifest
import Store

/// The newest bundle of each rollout and signer that was taken over on this machine.
///
/// Somebody who keeps an old stick could otherwise bring back a rollout with old images, commands or programs.
struct BundleRecord {
    private static let limit: Int64 = 1 << 20

    let bundle: BundleFile
    let rollout: String
    let state: String

    /// Refuses a bundle that is older than one of the same rollout and signer; returns the time of the newest.
    func check(mayBeOlder: Bool) throws(CommandError) -> WallTime? {
        guard !bundle.signers.isEmpty, TrustFolder.exists("\(state)/trust/signatures") else {
            return nil
        }
        let store = try store()
        var newest: WallTime?
        for key in bundle.signers {
            guard let time = try times(of: key, in: store)[rollout], time > bundle.index.created
            else {
                continue
            }
            newest = max(newest ?? time, time)
        }
        guard let newest, !mayBeOlder else { return newest }
        throw CommandError(
            .trust,
            "the bundle '\(bundle.path.visible)' is older than one that was taken over",
            because: [
                "it was made \(bundle.index.created), the newest of the rollout \(rollout) by "
                    + "this signer \(newest)"
            ],
            hint: "to go back, give --older and the --reason, which is recorded"
        )
    }

    /// Remembers this bundle as the newest; one that is older takes the place of a newer one.
    func keep() throws(CommandError) {
        guard !bundle.signers.isEmpty else { return }
        let store = try store()
        for key in bundle.signers {
            var times = try times(of: key, in: store)
            times[rollout] = bundle.index.created
            let list = times.sorted { $0.key < $1.key }.map { name, time in
                JSONValue.object([
                    "rollout": .string(name), "created": .integer(time.milliseconds),
                ])
            }
            let document = JSONValue.object(["form": 1, "bundles": .array(list)])
            try stored { () throws(TrustError) in
                try store.replace(Self.name(of: key), with: document.bytes)
            }
        }
    }

    private static func name(of key: MinisignKey) -> String { "bundles-" + Hex.text(key.encoded) }

    private func store() throws(CommandError) -> TrustStore<TrustPlace> {
        TrustStore(try NetworkSupply.place(of: nil, state: state))
    }

    private func times(
        of key: MinisignKey,
        in store: TrustStore<TrustPlace>
    ) throws(CommandError) -> [String: WallTime] {
        let bytes = try stored { () throws(TrustError) in
            try store.read(Self.name(of: key), limit: Self.limit)
        }
        guard let bytes else { return [:] }
        guard let document = try? JSONValue(json: bytes), document["form"]?.integer == 1,
            let list = document["bundles"]?.array
        else { throw damaged }
        var times: [String: WallTime] = [:]
        for entry in list {
            guard let name = entry["rollout"]?.string, let time = entry["created"]?.integer else {
                throw damaged
            }
            times[name] = WallTime(milliseconds: time)
        }
        return times
    }

    private var damaged: CommandError {
        CommandError(
            .trust,
            "no bundle can be trusted",
            because: ["the record of bundles that were taken over is damaged"],
            hint: "restore the state directory from a copy"
        )
    }

    private func stored<Result>(
        _ body: () throws(TrustError) -> Result
    ) throws(CommandError) -> Result {
        do throws(TrustError) { return try body() } catch {
            throw CommandError(
                .cannotWrite,
                "the record of bundles cannot be kept",
                because: [error.description]
            )
        }
    }
}

/// A person's wish to go back to an older bundle, with the reason.
package struct OlderBundle: Sendable {
    let reason: String

    /// Nil without `--older`.
    package static func wish(_ invocation: Invocation) throws(CommandError) -> OlderBundle? {
        guard invocation[Command.older] else { return nil }
        guard let reason = invocation[Command.reason], reason.contains(where: { $0 != " " }) else {
            throw CommandError(
                .usage,
                "'--older' needs '--reason'",
                hint: "give the reason why an older bundle may be taken over: it is recorded"
            )
        }
        return OlderBundle(reason: reason)
    }

    /// Writes the author and the reason into the journal.
    func note(_ rollout: String, state: String) async throws(CommandError) {
        let saying = Saying(
            "bundle --older",
            rollout: rollout,
            reason: reason,
            author: TrustRecords.author,
            at: RealTime().wallTime
        )
        let thread = try ThreadExecutor.working("journal")
        let result = await note(saying, state, thread)
        thread.stop()
        try result.get()
    }

    private func note(
        _ saying: Saying,
        _ state: String,
        _ thread: ThreadExecutor
    ) async -> Result<Void, CommandError> {
        do throws(JournalError) {
            let journal = try await Journal.open(directory: state, executor: thread)
            try await journal.note(saying)
            await journal.close()
            return .success(())
        } catch { return .failure(CommandError(error)) }
    }
}
