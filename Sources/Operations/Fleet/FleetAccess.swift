import Base
package import Commands
import Glibc
package import Store

/// The address of the fleet's database, and what opens it.
package struct FleetAccess: Sendable {
    package let address: FleetAddress
    /// This machine's name in the fleet.
    let gateway: String
    /// The fleet's name in plans that people approve: the same on all gateways.
    let commonName: String
    private let password: Secret?

    static let file = "/etc/yardmaster/fleet.conf"
    private static let credential = "fleet-password"
    private static let configurationLimit = 65_536

    init(address: FleetAddress, gateway: String, commonName: String?, password: Secret?) {
        self.address = address
        self.gateway = gateway
        self.commonName =
            commonName ?? address.hosts.map(\.text).joined(separator: ",") + "/" + address.database
        self.password = password
    }

    /// The fleet for a command that needs one.
    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        guard let access = try Self.named(invocation[Command.fleetAddress], context) else {
            throw CommandError(
                .usage,
                "nothing says where the fleet's database is",
                hint: "name it with --fleet postgresql://USER@HOST/DATABASE, in YARDMASTER_FLEET, "
                    + "or as `fleet = ADDRESS` in \(Self.file)"
            )
        }
        self = access
    }

    /// The database for its server's administrator: the flag's, or the one that `fleet create` makes on this machine.
    package static func ofServer(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> FleetAccess {
        let text = invocation[Command.fleetAddress] ?? "postgresql:///yardmaster"
        let address = try address(text, .usage, in: "--fleet")
        return FleetAccess(
            address: address,
            gateway: "server",
            commonName: nil,
            password: try password(address, context)
        )
    }

    /// The same with another address.
    func at(_ address: FleetAddress) -> FleetAccess {
        FleetAccess(address: address, gateway: gateway, commonName: commonName, password: password)
    }

    /// The fleet for a run; nil when there is none.
    ///
    /// A rehearsal takes rights only when it is asked to: what is rehearsed are the fleet's own modules.
    package static func ofRun(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> FleetAccess? {
        let flag = invocation[Command.fleetAddress]
        if flag == nil, invocation.isRehearsal { return nil }
        return try named(flag, context)
    }

    /// For commands that set something: nil when the machine belongs to no fleet.
    ///
    /// The state directory of rehearsals is not part of the machine's fleet, unless a rehearsal took part in it.
    package static func ofVerb(
        _ invocation: Invocation,
        _ context: Context,
        state: String
    ) throws(CommandError) -> FleetAccess? {
        guard let access = try named(invocation[Command.fleetAddress], context) else { return nil }
        guard invocation[Command.fleetAddress] == nil else { return access }
        let isRehearsal = try? JournalReader(directory: state).read { view throws(JournalError) in
            guard try view.lastRun(rollout: nil)?.seed != nil else { return false }
            return try !view.isOfFleet()
        }
        return isRehearsal == true ? nil : access
    }

    /// For commands that only read: nil also with `--journal`.
    package static func ofLook(
        _ invocation: Invocation,
        _ context: Context,
        state: String
    ) throws(CommandError) -> FleetAccess? {
        guard invocation[Command.journal] else {
            return try ofVerb(invocation, context, state: state)
        }
        guard invocation[Command.fleetAddress] == nil else {
            throw CommandError(
                .usage,
                "'--journal' means that no fleet is asked, and '--fleet' names one"
            )
        }
        return nil
    }

    /// The address, for people; it has no password.
    package var name: String { address.text }

    /// Uses the flag, else the environment, else the file.
    private static func named(
        _ flag: String?,
        _ context: Context
    ) throws(CommandError) -> FleetAccess? {
        let configuration = try configuration()
        let address: FleetAddress
        var commonName: String?
        if let flag {
            address = try Self.address(flag, .usage, in: "--fleet")
        } else if let given = context.variable("YARDMASTER_FLEET"), !given.isEmpty {
            address = try Self.address(given, .configuration, in: "YARDMASTER_FLEET")
        } else if let given = configuration?.fleet {
            address = try Self.address(given, .configuration, in: file)
            commonName = configuration?.name
        } else {
            return nil
        }
        return FleetAccess(
            address: address,
            gateway: context.variable("YARDMASTER_GATEWAY") ?? configuration?.gateway
                ?? NoticeSender.host,
            commonName: commonName,
            password: try password(address, context)
        )
    }

    private static func address(
        _ text: String,
        _ kind: CommandError.Kind,
        in place: String
    ) throws(CommandError) -> FleetAddress {
        do throws(FleetAddressError) {
            return try FleetAddress(text)
        } catch {
            throw CommandError(
                kind,
                "the address in \(place) is no address of a fleet",
                because: [error.description],
                hint: error.hint
            )
        }
    }

    private static func configuration() throws(CommandError) -> FleetConfiguration? {
        guard access(file, F_OK) == 0 else { return nil }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: file, limit: configurationLimit)
        } catch { throw CommandError(.configuration, error.description) }
        do throws(FleetConfigurationError) {
            return try FleetConfiguration(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandError(
                .configuration,
                "\(file):\(error.line): \(error.words)",
                hint: "it has lines such as `fleet = postgresql://USER@HOST/DATABASE`"
            )
        }
    }

    /// The password from the service manager's credential; nil when there is none.
    ///
    /// libpq reads a password file itself; here it is only checked, because libpq ignores one that
    /// others can read.
    private static func password(
        _ address: FleetAddress,
        _ context: Context
    ) throws(CommandError) -> Secret? {
        guard context.variable("PGPASSWORD") == nil else {
            throw CommandError(
                .configuration,
                "PGPASSWORD is set: a password does not belong into the environment",
                hint: FleetAddressError.password.hint
            )
        }
        // libpq would connect to what these name and not to the host of the address, of which our
        // rules for TLS speak.
        if let name = ["PGHOSTADDR", "PGSERVICE"].first(where: { context.variable($0) != nil }) {
            throw CommandError(
                .configuration,
                "\(name) is set: it leads to another server than the fleet's address says",
                hint: "unset \(name), and name the server in the address"
            )
        }
        let secrets = SecretSource(context: context)
        if let path = address.files[.passfile] {
            // It belongs to the user of the runs, and root reads it, too.
            _ = try secrets.read(path: path, of: "the fleet", ofAnyoneForRoot: true)
        }
        guard let directory = context.variable("CREDENTIALS_DIRECTORY"),
            access(directory + "/" + credential, F_OK) == 0
        else { return nil }
        return try secrets.read(
            path: directory + "/" + credential,
            of: "the fleet",
            isCredential: true
        )
    }

    /// How long a statement may take where somebody waits for its answer.
    static let usualPatience = Duration.seconds(8)

    /// The database, on a thread that it may block.
    package func database(
        on executor: any SerialExecutor,
        patience: Duration = usualPatience
    ) -> FleetDatabase {
        let settings = FleetSettings(
            address,
            password: password,
            name: "yardmaster/\(gateway.visible)",
            statementTime: patience
        )
        return FleetDatabase(settings, on: executor) { RealTime().now }
    }

    /// Runs `body` with the database on a thread of its own, and ends both.
    ///
    /// Whatever its tables are: only for the commands that make or inspect them. All others use
    /// `withTables` or `look`. `role` is what the user must be to do it; nil means the owner.
    package func withServer<R: Sendable>(
        as role: FleetRole? = .reader,
        patience: Duration = usualPatience,
        _ body: (FleetDatabase) async throws(FleetError) -> R
    ) async throws(CommandError) -> R {
        let executor: ThreadExecutor
        do throws(ThreadError) {
            executor = try ThreadExecutor.start(name: "fleet")
        } catch {
            throw CommandError(.unavailable, "no thread for the fleet", because: ["\(error)"])
        }
        let fleet = database(on: executor, patience: patience)
        let result: Result<R, FleetError>
        do throws(FleetError) {
            result = .success(try await body(fleet))
        } catch {
            result = .failure(error)
        }
        await fleet.close()
        executor.stop()
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error.commandError(address, for: role)
        }
    }

    /// The same for work that needs tables that fit this program; with other tables `body` is not
    /// called.
    package func withTables<R: Sendable>(
        as role: FleetRole? = .reader,
        patience: Duration = usualPatience,
        _ body: (FleetDatabase) async throws(FleetError) -> R
    ) async throws(CommandError) -> R {
        let (standing, result) = try await withServer(as: role, patience: patience) {
            fleet throws(FleetError) -> (FleetSchema.Standing, R?) in
            let standing = try await fleet.standing()
            switch standing {
            case .same, .ahead: return (standing, try await body(fleet))
            case .absent, .older, .newer: return (standing, nil)
            }
        }
        guard let result else { throw CommandError(misfit: standing) }
        return result
    }
}

extension FleetAccess {
    /// The answer of one moment, or the reason why no server answered; other errors are thrown.
    package func look<Answer: Sendable>(
        _ body: @Sendable (isolated FleetDatabase) throws(FleetError) -> Answer
    ) async throws(CommandError) -> Result<Answer, FleetError> {
        let (standing, result) = try await withServer {
            fleet throws(FleetError) -> (FleetSchema.Standing, Result<Answer, FleetError>?) in
            do throws(FleetError) {
                let standing = try await fleet.standing()
                switch standing {
                case .same, .ahead: return (standing, .success(try await fleet.atOneMoment(body)))
                case .absent, .older, .newer: return (standing, nil)
                }
            } catch {
                guard error.isAway else { throw error }
                return (.same, .failure(error))
            }
        }
        guard let result else { throw CommandError(misfit: standing) }
        return result
    }
}

extension FleetError {
    /// Whether a later try may succeed without anybody's help.
    var passes: Bool {
        switch kind {
        case .noLibrary, .unreachable, .lost, .collided, .busy: true
        case .denied, .forbidden, .noSchema, .refused: false
        }
    }

    /// Whether the request was not answered, and may be later.
    var isAway: Bool { passes || kind == .denied }

    /// Whether the next request would wait for nothing, too.
    package var isSilence: Bool {
        switch kind {
        case .noLibrary, .unreachable, .denied, .lost: true
        case .collided, .busy, .forbidden, .noSchema, .refused: false
        }
    }

    /// What those are told who wait for the database.
    var sentence: String {
        let does = !passes ? "refuses" : kind == .busy ? "is busy" : "does not answer"
        return "the fleet's database \(does): \(self)"
    }

    /// The error for people, about a request that a user of this role may give; nil means the owner.
    func commandError(_ address: FleetAddress, for role: FleetRole?) -> CommandError {
        CommandError(
            passes ? .unavailable : .configuration,
            "the fleet at \(address.text.visible) cannot be used",
            because: [description],
            hint: hint(for: role)
        )
    }

    /// What to do about it.
    package func hint(for role: FleetRole?) -> String? {
        switch kind {
        case .noLibrary: "apt-get install libpq5"
        case .denied where code == Self.refusedPassword:
            "for a gateway, make another invitation on the server: yardmaster fleet invite --renew NAME"
        case .denied where code == FleetError.pooled:
            "connect to PostgreSQL itself: a pooler such as PgBouncer does not keep a session's settings"
        case .unreachable, .denied, .lost: Self.looksAtServer
        case .collided, .busy: "try again; the server's log says what is in the way"
        case .forbidden: role.map { Self.membership($0) } ?? Self.ownership
        case .noSchema: Self.makesTables
        case .refused: nil
        }
    }

    package static let looksAtServer = "look at the server, its pg_hba.conf and its log"
    static let makesTables = "make them with 'yardmaster fleet create', as root on the server"
    private static let ownership =
        "only the owner of the database and its tables may do this: name that user in the address"

    private static func membership(_ role: FleetRole) -> String {
        switch role {
        case .reader: "make this user a member of \(role.rawValue)"
        case .operator:
            "only a member of \(role.rawValue) may do this: name such a user in the address"
        case .gateway:
            "a run needs a member of \(role.rawValue); a gateway's name that belongs to another user is handed "
                + "over by an operator: UPDATE yardmaster.gateway SET login = 'USER' WHERE name = 'NAME'"
        }
    }
}
