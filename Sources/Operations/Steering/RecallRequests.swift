package import Base
package import Commands
import Glibc
import Images
import Manifest
import Show
package import Store

/// A recall of an image, its end, or a question about them.
package struct RecallWish: Sendable {
    package enum Act: Sendable { case recall, lift, list }

    let act: Act
    /// A digest, a file, or a name in a rollout.
    let image: String
    let rollout: String?
    let reason: String
    let author: String
    let flags: PlaceFlags

    package init(_ invocation: Invocation, by author: String) throws(CommandError) {
        let (isLift, isList) = (invocation[Command.lift], invocation[Command.listRecalls])
        act = isLift ? .lift : isList ? .list : .recall
        image = invocation.arguments.first ?? ""
        rollout = invocation[Command.rollout]
        reason = invocation[Command.reason] ?? ""
        self.author = author
        flags = PlaceFlags(invocation)
        guard !(isLift && isList), image.isEmpty == (act == .list) else {
            throw CommandError(
                .usage,
                act == .list ? "--list takes no image" : "no image is named",
                hint: "give its SHA-256, its file or its name, or --list alone"
            )
        }
        guard act != .recall || !reason.isEmpty else {
            throw CommandError(
                .usage,
                "a recall needs a reason",
                hint: "add --reason TEXT: anyone who meets it wants to know why"
            )
        }
    }
}

/// What a wish about recalls has changed, and the recalls that it is about.
package struct RecallAnswer: Sendable {
    package let sentences: [String]
    package let uses: [RecallUse]

    package var document: JSONValue {
        .object([
            "schema": 1,
            "recalls": .array(uses.map { RecallUse.jsonForm.json(of: $0) }),
            "message": .string(sentences.joined(separator: "\n")),
            "exit": 0,
        ])
    }
}

extension OperatorRequests {
    /// An image, with its name for people.
    private typealias Named = (image: SHA256Digest, name: String)

    /// What a wish is understood by.
    private struct Known {
        let uses: [RecallUse]
        /// The images of transfers.
        let sent: [Named]
    }

    package func recall(_ wish: RecallWish) async throws(CommandError) -> RecallAnswer {
        try await withJournal { journal, _ throws(CommandError) in
            let known = try await known(of: wish.rollout, journal)
            guard wish.act != .list else {
                return RecallAnswer(sentences: Self.list(known.uses), uses: known.uses)
            }
            let (image, name) = try image(wish, known)
            guard wish.act == .recall else {
                let words =
                    try await lift(image, wish, journal)
                    ? "its recall is lifted; 'retry' takes up vehicles that were rejected"
                    : "no change, it is not recalled"
                return RecallAnswer(sentences: ["\(name.visible): \(words)"], uses: [])
            }
            let recall = Recall(
                image,
                name: name,
                reason: wish.reason,
                author: wish.author,
                at: RealTime().wallTime
            )
            try await stored(journal, as: .operator) { fleet throws(FleetError) in
                try await fleet.recall(recall)
            } own: { journal throws(JournalError) in
                try await journal.recall(recall)
            }
            let uses = try await self.known(of: wish.rollout, journal).uses
                .filter { $0.recall.image == image }
            let words = "\(name.visible): recalled, no run begins to send it"
            return RecallAnswer(sentences: [words] + effects(uses, wish.flags), uses: uses)
        }
    }

    private static func list(_ uses: [RecallUse]) -> [String] {
        guard !uses.isEmpty else { return ["nothing is recalled"] }
        return uses.flatMap { use in
            let recall = use.recall
            let head =
                "\(recall.name.visible) (\(recall.image)): recalled \(recall.made), by "
                + "\(recall.author.visible): \(recall.reason.visible)"
            return [head] + use.sentences().map { "  " + $0 }
        }
    }

    /// The vehicles that have the image, and the commands that bring them back.
    private func effects(_ uses: [RecallUse], _ flags: PlaceFlags) -> [String] {
        let sentences = uses.flatMap { $0.sentences() }
        guard !sentences.isEmpty else { return ["no vehicle is known to have it"] }
        let kept = Set(PlanArchive(state: state).names)
        let rollouts = kept.intersection(uses.flatMap { $0.running.map(\.rollout) })
        let given = flags.of(state)
        return sentences
            + rollouts.sorted().map { "next: " + given.line("rollback", NextStep.quoted($0)) }
    }

    // MARK: The stores

    /// What the fleet's database answers, or the journal of a machine that belongs to no fleet.
    private func stored<R: Sendable>(
        _ journal: Journal,
        as role: FleetRole? = .reader,
        shared: (FleetDatabase) async throws(FleetError) -> R,
        own: (Journal) async throws(JournalError) -> R
    ) async throws(CommandError) -> R {
        if let fleet { return try await fleet.access.withTables(as: role, shared) }
        do throws(JournalError) { return try await own(journal) } catch { throw refusal(error) }
    }

    private func known(
        of rollout: String?,
        _ journal: Journal
    ) async throws(CommandError) -> Known {
        try await stored(journal) { fleet throws(FleetError) in
            Known(
                uses: try await fleet.recallUses(try await fleet.debts()),
                sent: try await fleet.sentImages(of: rollout)
            )
        } own: { journal throws(JournalError) in
            try await journal.look { view throws(JournalError) in
                Known(uses: try view.recallUses(), sent: try view.sentImages(of: rollout))
            }
        }
    }

    private func lift(
        _ image: SHA256Digest,
        _ wish: RecallWish,
        _ journal: Journal
    ) async throws(CommandError) -> Bool {
        let reason = wish.reason.isEmpty ? wish.image : "\(wish.image): \(wish.reason)"
        return try await stored(journal, as: .operator) { fleet throws(FleetError) in
            try await fleet.lift(recallOf: image, saying: reason, by: wish.author)
        } own: { journal throws(JournalError) in
            let saying = Saying(
                "recall --lift",
                reason: reason,
                author: wish.author,
                at: RealTime().wallTime
            )
            return try await journal.lift(recallOf: image, saying: saying)
        }
    }

    /// The image that a person means; throws when it is none, or one of several.
    private func image(_ wish: RecallWish, _ known: Known) throws(CommandError) -> Named {
        let recalls = known.uses.map(\.recall).filter {
            $0.name == wish.image || $0.image.description == wish.image
        }
        if wish.act == .lift, recalls.count == 1 { return (recalls[0].image, recalls[0].name) }
        let archive = PlanArchive(state: state)
        let planned = (wish.rollout.map { [$0] } ?? archive.names)
            .flatMap { archive.plan(nil, of: $0)?.images ?? [] }
        let images: [Named] = planned.map { ($0.digest, $0.name) } + known.sent
        func named(_ image: SHA256Digest, or name: some StringProtocol) -> Named {
            (image, images.first { $0.image == image }?.name ?? String(name))
        }
        if let image = SHA256Digest(wish.image) { return named(image, or: wish.image.prefix(12)) }
        if access(wish.image, F_OK) == 0 {
            do throws(ImageError) {
                let bytes = try InspectedImage.read(AbsolutePath.of(wish.image))
                let file = wish.image.split(separator: "/").last
                return named(SHA256.digest(of: bytes), or: file ?? wish.image[...])
            } catch { throw CommandError(.inputMissing, error.description) }
        }
        let fitting = Set(images.filter { $0.name == wish.image }.map(\.image)).sorted()
        guard let image = fitting.first else {
            throw CommandError(
                .inputMissing,
                "'\(wish.image.visible)' is no file, and no rollout here has an image of that name",
                hint: "give its SHA-256, as 'yardmaster images list' shows it"
            )
        }
        guard fitting.count == 1 else {
            throw CommandError(
                .usage,
                "'\(wish.image.visible)' is the name of several images",
                because: fitting.map(\.description),
                hint: "give the SHA-256 of one of them, or name the rollout with --rollout"
            )
        }
        return (image, wish.image)
    }
}
