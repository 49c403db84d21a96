import Base
package import Commands
import Images
import Manifest

/// Why the images of a plan may not be used, and the image that is refused.
package struct TrustRefusal: Error {
    /// Nil when it does not concern one image.
    package let image: String?
    package let error: CommandError
}

/// Verifies the images of a plan: who vouches for each one, and whether it may be used as planned.
///
/// Nothing is recorded as trusted before all images are verified.
package struct ReleaseVerifier<Supply: TrustSupply> {
    let plan: FrozenPlan
    let supply: Supply
    /// Read once.
    let now: WallTime

    /// Verifies all images; `bytes` returns the bytes of an image, which match its pinned digest.
    func judge(
        _ bytes: (PlannedImage) throws(CommandError) -> [UInt8]
    ) async throws(TrustRefusal) -> [TrustVerdict] {
        var verdicts: [TrustVerdict] = []
        var accounts: [Account] = []
        for image in plan.images {
            do throws(CommandError) {
                verdicts.append(try await judge(image, bytes, &accounts))
            } catch { throw TrustRefusal(image: image.name, error: error) }
        }
        try await judgeAttachments(&verdicts, accounts)
        do throws(CommandError) {
            for account in accounts { try account.close() }
        } catch { throw TrustRefusal(image: nil, error: error) }
        return verdicts
    }

    /// The same for commands that only need the reason of a refusal.
    func verdicts(
        _ bytes: (PlannedImage) throws(CommandError) -> [UInt8]
    ) async throws(CommandError) -> [TrustVerdict] {
        do throws(TrustRefusal) {
            return try await judge(bytes)
        } catch { throw error.error }
    }

    private func judge(
        _ image: PlannedImage,
        _ bytes: (PlannedImage) throws(CommandError) -> [UInt8],
        _ accounts: inout [Account]
    ) async throws(CommandError) -> TrustVerdict {
        let lists = ReleaseLists(
            allowed: Set(plan.trust.allowed),
            denied: Set(plan.trust.denied)
        )
        do throws(PolicyRefusal) {
            try lists.check(image.digest)
        } catch { throw Self.refusal(image, error) }
        switch image.trust {
        case .digest:
            return TrustVerdict(
                image: image.name,
                trust: image.trust,
                statement: .silent,
                isFromBefore: false
            )
        case .signature(let key, let source):
            let key = try self.key(key, image)
            let account = try account(of: key, image, &accounts)
            let (statement, comment) = try await signed(image, key, source, try bytes(image))
            try check(image, statement, ReleaseLists(), &accounts[account], grace: .zero)
            var verdict = verdict(image, statement, accounts[account])
            verdict.signer = key.line
            verdict.comment = comment
            return verdict
        case .repository(let name, let target):
            guard let repository = plan.trust.repositories.first(where: { $0.name == name })
            else { throw CommandError(.internal, "the repository \(name) is not planned") }
            let account = try await opened(repository, &accounts)
            let (statement, own) = try await listed(image, target, &accounts[account])
            let grace = accounts[account].updater?.allowedGrace ?? .zero
            try check(image, statement, own, &accounts[account], grace: grace)
            var verdict = verdict(image, statement, accounts[account])
            verdict.signer = name
            verdict.role = accounts[account].updater?.lister?.description
            return verdict
        }
    }

    /// The facts about a repository, or about a single key.
    struct Account {
        enum Owner: Equatable {
            case repository(String)
            case key(MinisignKey)
        }

        let owner: Owner
        let store: TrustStore<TrustPlace>
        /// Whether a record exists.
        let isKnown: Bool
        var ledger: ReleaseLedger
        let before: ReleaseLedger
        var updater: Updater<TrustPlace, AnyDocuments>?
        var isFromBefore = false

        static var ledgerName: String { "releases" }

        func close() throws(CommandError) {
            do throws(TrustError) {
                switch owner {
                case .repository where ledger != before:
                    try store.replace(Self.ledgerName, with: ledger.bytes)
                // A key is known after the first image that was trusted by it.
                case .key(let key) where ledger != before || !isKnown:
                    try KeyBook(store).keep(ledger, of: key)
                case .repository, .key: break
                }
            } catch {
                throw CommandError(
                    .cannotWrite,
                    "the record of trusted releases cannot be kept",
                    because: [error.description]
                )
            }
        }
    }

    private func verdict(
        _ image: PlannedImage,
        _ statement: ReleaseStatement,
        _ account: Account
    ) -> TrustVerdict {
        TrustVerdict(
            image: image.name,
            trust: image.trust,
            statement: statement,
            isFromBefore: account.isFromBefore
        )
    }

    private func account(
        of repository: PlannedRepository,
        _ accounts: inout [Account]
    ) throws(CommandError) -> Int {
        let owner = Account.Owner.repository(repository.name)
        if let known = accounts.firstIndex(where: { $0.owner == owner }) { return known }
        let store = TrustStore(try supply.place(of: repository))
        let ledger: ReleaseLedger?
        do throws(TrustError) {
            let kept = try store.read(Account.ledgerName, limit: 1 << 20)
            ledger = kept.map { ReleaseLedger($0) } ?? ReleaseLedger()
        } catch { throw Self.refusal(repository, error) }
        return try open(owner, store, ledger, isKnown: true, &accounts)
    }

    private func account(
        of key: MinisignKey,
        _ image: PlannedImage,
        _ accounts: inout [Account]
    ) throws(CommandError) -> Int {
        let owner = Account.Owner.key(key)
        if let known = accounts.firstIndex(where: { $0.owner == owner }) { return known }
        // All keys are in one folder, which is locked once.
        let others = accounts.first { if case .key = $0.owner { true } else { false } }
        let store: TrustStore<TrustPlace>
        if let others {
            store = others.store
        } else {
            store = TrustStore(try supply.place(of: nil))
        }
        let book = KeyBook(store)
        let isKnown: Bool
        let ledger: ReleaseLedger?
        do throws(TrustError) {
            isKnown = try book.isKnown(key)
            ledger = try book.record(of: key)
        } catch { throw Self.refusal(nil, error) }
        guard isKnown || supply.bringsKeys else {
            throw CommandError(
                .trust,
                "the image \(image.name) is not trusted",
                because: ["this depot does not know the key \(key.line): only the bundle names it"],
                hint:
                    "bring the key by a way you trust and say 'yardmaster trust add KEY', or verify "
                    + "a bundle that is signed, with --key"
            )
        }
        return try open(owner, store, ledger, isKnown: isKnown, &accounts)
    }

    private func open(
        _ owner: Account.Owner,
        _ store: TrustStore<TrustPlace>,
        _ ledger: ReleaseLedger?,
        isKnown: Bool,
        _ accounts: inout [Account]
    ) throws(CommandError) -> Int {
        guard let ledger else {
            throw CommandError(
                .trust,
                "no image can be trusted",
                because: [PolicyRefusal.noLedger(Account.ledgerName).description],
                hint: "restore the state directory from a copy, or begin an empty "
                    + "record with 'yardmaster trust reset'"
            )
        }
        accounts.append(
            Account(owner: owner, store: store, isKnown: isKnown, ledger: ledger, before: ledger)
        )
        return accounts.count - 1
    }

    private func check(
        _ image: PlannedImage,
        _ statement: ReleaseStatement,
        _ lists: ReleaseLists,
        _ account: inout Account,
        grace: Duration
    ) throws(CommandError) {
        let claim = ReleaseClaim(
            image: image.name,
            hardware: HardwareID(
                family: image.fits.family,
                type: image.fits.type,
                variant: image.fits.variant
            ),
            version: image.version,
            digest: image.digest
        )
        do throws(PolicyRefusal) {
            // Compared with what was trusted before this plan: its own images do not exclude each
            // other.
            try statement.check(claim, lists: lists, ledger: account.before, now: now, grace: grace)
        } catch { throw Self.refusal(image, error) }
        account.ledger.note(claim, statement)
    }
}

// MARK: Signatures by single keys

extension ReleaseVerifier {
    private func signed(
        _ image: PlannedImage,
        _ key: MinisignKey,
        _ source: ImageSource,
        _ bytes: [UInt8]
    ) async throws(CommandError) -> (ReleaseStatement, comment: String) {
        try await meaning(
            kept: supply.keptSignature(of: image, by: key),
            holds: { found in found.0.expires.map { $0 > now } ?? true },
            fetch: { () async throws(SourceError) in
                try await supply.signature(of: image, at: source)
            },
            read: { (text) throws(CommandError) in try statement(image, key, text, bytes) },
            keep: { (text) throws(CommandError) in
                try supply.keep(signature: text, of: image, by: key)
            },
            refusal: { kind, error in
                CommandError(
                    kind,
                    "the image \(image.name) is not trusted",
                    because: ["its signature \(source) cannot be fetched: \(error)"],
                    hint: "it is asked for at \(image.place)"
                )
            }
        )
    }

    /// The statement of a signature, after it was verified.
    private func statement(
        _ image: PlannedImage,
        _ key: MinisignKey,
        _ text: [UInt8],
        _ bytes: [UInt8]
    ) throws(CommandError) -> (ReleaseStatement, comment: String) {
        let comment: String
        do throws(MinisignError) {
            let signature = try MinisignSignature(text)
            try signature.verify(bytes, by: key)
            comment = signature.comment
        } catch { throw Self.refusal(image, because: error.description) }
        do throws(StatementFault) {
            return (try ReleaseStatement(comment: comment), comment)
        } catch { throw Self.refusal(image, .notUnderstood(error)) }
    }

    /// A key that is named but cannot be read never means that no key is required.
    private func key(
        _ reference: KeyReference,
        _ image: PlannedImage
    ) throws(CommandError) -> MinisignKey {
        let text: [UInt8]
        switch reference {
        case .text(let given): text = Array(given.utf8)
        case .file(let file):
            do throws(TrustError) {
                text = try supply.key(file)
            } catch {
                throw CommandError(
                    .inputMissing,
                    "the key of the image \(image.name) cannot be read",
                    because: [error.description],
                    hint: "it is named at \(image.place)"
                )
            }
        }
        do throws(MinisignError) {
            return try MinisignKey(text)
        } catch {
            throw CommandError(
                .configuration,
                "the key of the image \(image.name) cannot be used",
                because: ["\(reference.description.visible): \(error)"],
                hint: "it is named at \(image.place)"
            )
        }
    }
}

// MARK: Repositories

extension ReleaseVerifier {
    /// The account of a repository, with documents that are up to date, or that the grace allows.
    private func opened(
        _ repository: PlannedRepository,
        _ accounts: inout [Account]
    ) async throws(CommandError) -> Int {
        let index = try account(of: repository, &accounts)
        guard accounts[index].updater == nil else { return index }
        do throws(TrustError) {
            var updater = try Updater(
                files: accounts[index].store.files,
                source: supply.documents(of: repository),
                now: now
            )
            if supply.isOffline { updater.grace = repository.grace ?? .zero }
            do throws(TrustError) {
                try await updater.refresh()
            } catch .source(let name, .unreachable(let reason)) {
                guard let grace = repository.grace, !supply.isOffline else {
                    throw .source(name, .unreachable(reason))
                }
                updater.grace = grace
                do throws(TrustError) {
                    try updater.resume()
                } catch .source(_, .notThere) {
                    // The first documents never arrived: the reason is that, and not that they are missing.
                    throw .source(name, .unreachable(reason))
                }
                accounts[index].isFromBefore = true
            }
            accounts[index].updater = updater
        } catch { throw Self.refusal(repository, error) }
        return index
    }

    private func listed(
        _ image: PlannedImage,
        _ target: String,
        _ account: inout Account
    ) async throws(CommandError) -> (ReleaseStatement, ReleaseLists) {
        guard var updater = account.updater, let path = TargetPath(target) else {
            throw Self.refusal(image, because: TrustError.badTargetPath(target).description)
        }
        let file: TargetFile
        do throws(TrustError) {
            file =
                account.isFromBefore
                ? try await updater.findStored(path) : try await updater.find(path)
            try file.checkIsCheckable(path)
        } catch { throw Self.refusal(image, because: error.description) }
        account.updater = updater
        do throws(PolicyRefusal) {
            guard let hash = file.hashes.known[.sha256], let listed = SHA256Digest(bytes: hash)
            else { throw .noDigest }
            guard listed == image.digest else {
                throw .otherFile(listed: listed, pinned: image.digest)
            }
            do throws(StatementFault) {
                let lists = try updater.targets.map { (targets) throws(StatementFault) in
                    try ReleaseLists(targets)
                }
                return (try ReleaseStatement(custom: file.custom), lists ?? ReleaseLists())
            } catch { throw .notUnderstood(error) }
        } catch { throw Self.refusal(image, error) }
    }
}

// MARK: Refusals

extension ReleaseVerifier {
    private static func refusal(_ image: PlannedImage, _ error: PolicyRefusal) -> CommandError {
        refusal(image, because: error.description)
    }

    private static func refusal(_ image: PlannedImage, because cause: String) -> CommandError {
        CommandError(
            .trust,
            "the image \(image.name) is not trusted",
            because: [cause],
            hint: "\(image.place) names it; nothing was done"
        )
    }

    private static func refusal(
        _ repository: PlannedRepository?,
        _ error: TrustError
    ) -> CommandError {
        let kind: CommandError.Kind =
            switch error {
            case .storage: .cannotWrite
            case .source(_, .unreachable): .unavailable
            case .noRoot, .otherRoot, .malformed, .notSigned, .wrongVersion, .rolledBack,
                .roleRemoved, .expired, .wrongLength, .wrongHash, .tooManyRoots, .tooManyRoles,
                .notListed, .clockWentBack, .badTargetPath, .noTarget, .noKnownHash,
                .targetTooLarge, .targetWrongLength, .targetWrongHash, .source:
                .trust
            }
        return CommandError(
            kind,
            repository.map { "the repository \($0.name) is not trusted" }
                ?? "no signature can be trusted",
            because: [error.description],
            hint: repository.map { "\($0.place) names it; nothing was done" }
        )
    }
}
