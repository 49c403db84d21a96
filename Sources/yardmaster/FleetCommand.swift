import Base
import Commands
import Operations
import Rollout
import Show
import Store

/// `fleet`: sets up a server for a fleet, and creates, upgrades and checks its tables in PostgreSQL.
struct FleetCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions
    private let terms = LeaseTerms.standard

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    private static var program: String { "yardmaster \(Version.current)" }

    // MARK: create and upgrade

    /// What makes or upgrades the tables, for somebody who reads it first: all of it or nothing.
    private static func script(from version: Int) -> String {
        "BEGIN;\n\n" + FleetSchema.current.statements(from: version, by: program)
            + FleetRole.statements + "\nCOMMIT;\n"
    }

    func create() async throws(CommandError) -> ExitCode {
        if invocation[Command.fleetStatements] {
            let names = invocation[Command.serverNames]
            if let names { _ = try FleetServerSetup.names(names) }
            context.console.result(
                (names.map(FleetServerSetup.statements) ?? "") + Self.script(from: 0)
            )
            return .done
        }
        let access = try FleetAccess.ofServer(invocation, context)
        let setup = try FleetServerSetup(invocation, context)
        var standing = FleetSchema.Standing.absent
        let settings = try await access.asServerUser {
            () throws(CommandError) -> FleetServerSettings? in
            let settings = try await setup?.makeDatabase()
            if settings?.hasDatabase == false { say("made the database, of yardmaster_owner") }
            standing = try await makeTables(access)
            guard let setup, let settings else { return nil }
            for line in try await setup.open(settings) { say(line) }
            return settings
        }
        if let setup, let settings {
            if let done = await setup.restart(settings) { say(done) }
            say("next, for each gateway: yardmaster fleet invite NAME")
        }
        return finish([
            JSONMember("standing", .string(Self.word(standing))),
            JSONMember("made", .bool(standing == .absent)),
        ])
    }

    /// Returns how the tables were found.
    private func makeTables(
        _ access: FleetAccess
    ) async throws(CommandError) -> FleetSchema.Standing {
        let (standing, missing) = try await access.withServer(as: nil) { fleet throws(FleetError) in
            let standing = try await fleet.standing()
            _ = try await fleet.upgrade(
                from: standing == .absent ? .absent : .same,
                by: Self.program
            )
            guard standing == .absent else { return (standing, [FleetRole]()) }
            return (standing, try await fleet.grantRights())
        }
        switch standing {
        case .absent:
            say("made the tables of version \(FleetSchema.current.version) in \(name(access))")
        case .same, .ahead:
            say("the tables exist already, in \(name(access)): nothing to do")
        case .older, .newer: throw CommandError(misfit: standing)
        }
        warn(of: missing)
        return standing
    }

    func upgradeTables() async throws(CommandError) -> ExitCode {
        let access = try FleetAccess(invocation, context)
        let wantsStatements = invocation[Command.fleetStatements]
        let (standing, missing) = try await access.withServer(as: nil) { fleet throws(FleetError) in
            let standing = try await fleet.standing()
            guard case .older = standing, !wantsStatements else { return (standing, [FleetRole]()) }
            _ = try await fleet.upgrade(from: standing, by: Self.program)
            return (standing, try await fleet.grantRights())
        }
        var isChanged = false
        switch standing {
        case .absent, .newer: throw CommandError(misfit: standing)
        case .same, .ahead:
            if !wantsStatements {
                say("the tables are up to date, in \(name(access)): nothing to do")
            }
        case .older(let version):
            if wantsStatements {
                context.console.result(Self.script(from: version))
                return .done
            }
            isChanged = true
            say(
                "upgraded the tables from version \(version) to \(FleetSchema.current.version) in "
                    + name(access)
            )
            warn(of: missing)
        }
        return finish([
            JSONMember("standing", .string(Self.word(standing))),
            JSONMember("upgraded", .bool(isChanged)),
        ])
    }

    private func warn(of missing: [FleetRole]) {
        guard !missing.isEmpty else { return }
        context.console.note(
            "yardmaster: warning: this user may not make roles: "
                + missing.map(\.rawValue).joined(separator: ", ")
                + "\n  hint: let a superuser run the last part of 'yardmaster fleet create --sql'\n"
        )
    }

    // MARK: accept-restore

    func acceptRestore() async throws(CommandError) -> ExitCode {
        let access = try FleetAccess(invocation, context)
        let terms = terms
        let generation = try await access.withTables(as: .operator) { fleet throws(FleetError) in
            try await fleet.acceptRestore(known: nil, terms: terms)
        }
        let wait = terms.length + terms.takeoverWait
        say(
            "the database is used from now on, as generation \(generation); rights are granted again in "
                + wait.brief
        )
        return finish([JSONMember("generation", .integer(Int64(generation)))])
    }

    // MARK: check

    func check() async throws(CommandError) -> ExitCode {
        let access = try FleetAccess(invocation, context)
        let terms = terms
        let findings: [Finding]
        do throws(CommandError) {
            findings = try await access.withServer { fleet throws(FleetError) in
                try await Self.findings(on: fleet, terms)
            }
        } catch {
            guard error.kind == .unavailable else { throw error }
            let finding = Finding(.bad, "server", error.causes.joined(separator: "; "), error.hint)
            tell([finding], .unavailable)
            return .unavailable
        }
        let isBad = findings.contains { $0.grade == .bad }
        let code: ExitCode = isBad ? .configuration : .done
        tell(findings, code)
        return code
    }

    private static func findings(
        on fleet: FleetDatabase,
        _ terms: LeaseTerms
    ) async throws(FleetError) -> [Finding] {
        var findings = findings(on: try await fleet.server())
        let standing = try await fleet.standing()
        switch standing {
        case .same:
            findings.append(
                Finding(.good, "tables", "version \(FleetSchema.current.version)")
            )
        case .ahead(let version):
            findings.append(
                Finding(.good, "tables", "version \(version), which this program can work with")
            )
        case .absent, .older, .newer:
            let error = CommandError(misfit: standing)
            findings.append(Finding(.bad, "tables", error.sentence, error.hint))
            return findings
        }
        findings += try await rights(on: fleet)
        let history = try await fleet.guardedHistory(known: nil, terms: terms)
        findings.append(finding(on: history))
        if case .open = history, let names = try await fleet.history().unheard {
            findings.append(
                Finding(
                    .warning,
                    "history",
                    "steps that must be done once wait until \(names.visible) has reported what it may have done "
                        + "before another server took over",
                    FleetCommand.forgetting
                )
            )
        }
        findings.append(finding(on: try await fleet.pruning()))
        let offset = try await fleet.clockOffset(at: RealTime().wallTime)
        findings.append(finding(onClock: offset))
        return findings
    }

    private static func findings(on server: FleetServer) -> [Finding] {
        let way =
            server.isEncrypted
            ? server.host.isLocal ? "TLS" : "TLS, its name verified"
            : server.host.isSocket ? "a unix socket" : "without TLS, on this machine"
        let answer = Finding(
            .good,
            "server",
            "PostgreSQL \(server.versionText) at \(server.host.text), \(way)"
        )
        guard server.version < 130_000 else { return [answer] }
        return [
            answer,
            Finding(.bad, "version", "PostgreSQL is older than 13", "upgrade the server"),
        ]
    }

    /// The finding on how far this machine's clock is ahead of the server's.
    private static func finding(onClock offset: Duration) -> Finding {
        let amount = max(offset, .zero - offset)
        let side = offset < .zero ? "behind" : "ahead of"
        return amount < .seconds(2)
            ? Finding(.good, "clock", "this machine's agrees with the server's")
            : Finding(
                .warning,
                "clock",
                "this machine's is \(amount.brief) \(side) the server's",
                "synchronise both with the same time source; windows use this machine's clock"
            )
    }

    private static func word(_ standing: FleetSchema.Standing) -> String {
        switch standing {
        case .absent: "absent"
        case .older: "older"
        case .same: "same"
        case .ahead: "ahead"
        case .newer: "newer"
        }
    }

    // MARK: Output

    private func name(_ access: FleetAccess) -> String { access.address.text.visible }

    private func say(_ text: String) {
        if !common.wantsJSON, !common.isQuiet { context.console.result(text + "\n") }
    }

    private func finish(_ members: [JSONMember]) -> ExitCode {
        guard common.wantsJSON else { return .done }
        let exit = ExitCode.done.json
        let document = [JSONMember("schema", 1)] + members + [JSONMember("exit", exit)]
        context.console.result(JSONValue.object(document).text + "\n")
        return .done
    }

    private func tell(_ findings: [Finding], _ code: ExitCode) {
        if common.wantsJSON {
            context.console.result(Finding.document(findings, code))
        } else {
            context.console.result(Finding.text(findings, quietly: common.isQuiet))
        }
    }
}
