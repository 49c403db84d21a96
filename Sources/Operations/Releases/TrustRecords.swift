import Base
package import Commands
import Glibc
import Images
import Manifest
import Store

/// `trust add` and `trust reset`: the keys that a depot knows, and the releases that it trusted by
/// each.
package struct TrustRecords {
    private let invocation: Invocation
    private let context: Context
    private let state: String

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.invocation = invocation
        self.context = context
        state = try CommonOptions.stateDirectory(invocation, context)
    }

    package func add() throws(CommandError) -> ExitCode {
        guard invocation.arguments.count == 2 else {
            throw CommandError(.usage, "'trust add' needs the file of a public key")
        }
        if let attester = try Self.attester(in: invocation.arguments[1]) {
            return try add(attester)
        }
        let key = try MinisignKey.given(invocation.arguments[1])
        _ = try StateDirectory.prepared(at: state)
        let store = TrustStore(try NetworkSupply.place(of: nil, state: state))
        let book = KeyBook(store)
        guard try !Self.stored({ () throws(TrustError) in try book.isKnown(key) }) else {
            say("the key \(key.line) is already known")
            return .done
        }
        guard let record = try Self.stored({ () throws(TrustError) in try book.record(of: key) })
        else { throw damaged("releases") }
        try Self.stored { () throws(TrustError) in try book.keep(record, of: key) }
        say("the key \(key.line) is known from now on")
        return .done
    }

    /// The attestation key in a file; nil when the file is not PEM.
    private static func attester(in path: String) throws(CommandError) -> VerifyingKey? {
        guard let text = try? TrustFolder.contents(of: path, limit: 16_384),
            String(decoding: text, as: UTF8.self).contains("-----BEGIN ")
        else { return nil }
        do throws(AttestationFault) {
            return try VerifyingKey(pem: text)
        } catch {
            throw CommandError(
                .configuration,
                "the key '\(path.visible)' cannot be used",
                because: [error.description],
                hint:
                    "'trust add' takes a public key in PEM (Ed25519, P-256, or RSA of 2048 bits and "
                    + "more), or one of minisign"
            )
        }
    }

    private func add(_ key: VerifyingKey) throws(CommandError) -> ExitCode {
        _ = try StateDirectory.prepared(at: state)
        let book = AttesterBook(TrustStore(try NetworkSupply.place(of: nil, state: state)))
        let isKnown = try Self.stored { () throws(TrustError) in try book.isKnown(key) }
        if !isKnown { try Self.stored { () throws(TrustError) in try book.keep(key) } }
        say(
            "the attestation key \(key.fingerprint) is known "
                + (isKnown ? "already" : "from now on")
        )
        return .done
    }

    package func reset() throws(CommandError) -> ExitCode {
        guard invocation.arguments.count == 1 else {
            throw CommandError(.usage, "'trust reset' takes no file")
        }
        guard let reason = invocation[Command.reason], reason.contains(where: { $0 != " " }) else {
            throw CommandError(
                .usage,
                "'trust reset' needs '--reason'",
                hint: "give the reason why older releases may be trusted again: it is recorded"
            )
        }
        switch (invocation[Command.recordKey], invocation[Command.repository]) {
        case (let key?, nil):
            try reset(try MinisignKey.given(key), reason)
        case (nil, let repository?):
            try reset(repository: repository, reason)
        default:
            throw CommandError(
                .usage,
                "'trust reset' needs '--key' or '--repository', one of them"
            )
        }
        return .done
    }

    private func reset(_ key: MinisignKey, _ reason: String) throws(CommandError) {
        let store = try store(of: "signatures", "no key is known in \(state.visible)")
        let book = KeyBook(store)
        guard try Self.stored({ () throws(TrustError) in try book.isKnown(key) }) else {
            throw unknown("the key \(key.line) is not known here")
        }
        try Self.stored { () throws(TrustError) in
            // A damaged record can be reset, too: that is the way to repair it.
            let before = try book.record(of: key) ?? ReleaseLedger()
            try store.note(note(reason, key.line, before))
            try book.keep(ReleaseLedger(), of: key)
        }
        say("an empty record was begun for the key \(key.line)")
    }

    private func reset(repository: String, _ reason: String) throws(CommandError) {
        let store = try store(
            of: PlannedRepository.folder(of: repository),
            "no repository \(repository.visible) is trusted in \(state.visible)"
        )
        try Self.stored { () throws(TrustError) in
            let kept = try store.read("releases", limit: 1 << 20)
            let before = kept.flatMap { ReleaseLedger($0) } ?? ReleaseLedger()
            try store.note(note(reason, nil, before))
            try store.replace("releases", with: ReleaseLedger().bytes)
        }
        say("an empty record was begun for the repository \(repository.visible)")
    }

    private func store(
        of name: String,
        _ sentence: String
    ) throws(CommandError) -> TrustStore<TrustPlace> {
        let path = "\(state)/trust/\(name)"
        guard !name.utf8.contains(0x2F), TrustFolder.exists(path) else { throw unknown(sentence) }
        return try Self.stored { () throws(TrustError) in
            TrustStore(TrustPlace(files: try TrustFolder.held(path)))
        }
    }

    private func note(_ reason: String, _ key: String?, _ before: ReleaseLedger) -> LedgerReset {
        LedgerReset(
            time: RealTime().wallTime,
            reason: reason,
            author: Self.author,
            key: key,
            before: before
        )
    }

    /// The name of the current user, if the system knows it.
    static var author: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else {
            return "user \(getuid())"
        }
        return String(cString: name)
    }

    private func say(_ text: String) {
        if !invocation[Command.quiet] { context.console.result(text + "\n") }
    }

    private func unknown(_ sentence: String) -> CommandError {
        CommandError(.inputMissing, sentence, hint: "'yardmaster trust show' lists what is")
    }

    private func damaged(_ name: String) -> CommandError {
        CommandError(
            .trust,
            "nothing can be trusted",
            because: [PolicyRefusal.noLedger(name).description],
            hint: "restore the state directory from a copy"
        )
    }

    private static func stored<Result>(
        _ body: () throws(TrustError) -> Result
    ) throws(CommandError) -> Result {
        do throws(TrustError) {
            return try body()
        } catch {
            throw CommandError(
                .cannotWrite,
                "the record of trusted releases cannot be kept",
                because: [error.description]
            )
        }
    }
}

extension MinisignKey {
    /// A key from a flag: the path of its file, or the line `RW…` itself.
    static func given(_ text: String) throws(CommandError) -> MinisignKey {
        if let key = try? MinisignKey(Array(text.utf8)) { return key }
        let bytes: [UInt8]
        do throws(TrustError) {
            bytes = try TrustFolder.contents(of: text, limit: 4_096)
        } catch {
            throw CommandError(
                .inputMissing,
                "the key '\(text.visible)' cannot be read",
                because: [error.description]
            )
        }
        do throws(MinisignError) {
            return try MinisignKey(bytes)
        } catch {
            throw CommandError(
                .configuration,
                "the key '\(text.visible)' cannot be used",
                because: [error.description]
            )
        }
    }
}
