import Base
package import Commands
import Glibc
import Images
import Manifest
package import Operations

/// The units of the service manager that were requested, and their content.
package struct UnitChoice {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    package init(
        _ invocation: Invocation,
        _ common: CommonOptions,
        _ context: Context
    ) {
        self.invocation = invocation
        self.common = common
        self.context = context
    }

    /// The two units, or the requested one.
    package func units() throws(CommandError) -> [ServiceUnits.Unit] {
        let unit = invocation[Command.unit]
        let notify = NotifyUnits(program: try program())
        switch unit {
        case "failure": return [notify.failure]
        case "notify-service": return [notify.service]
        case "notify-timer": return [notify.timer]
        case "serve-socket": return [ServeUnits(program: try program()).socket]
        case "serve-service": return [ServeUnits(program: try program()).service]
        default: break
        }
        guard let folder = invocation[Command.watchedFolder] else {
            let profiles = try invocation[Command.profiles].map { (path) throws(CommandError) in
                try absolute(path)
            }
            let units = ServiceUnits(
                program: try program(),
                rollout: try rollout(),
                profiles: profiles
            )
            switch unit {
            case nil: return [units.service, units.timer]
            case "service": return [units.service]
            case "timer": return [units.timer]
            default: throw CommandError(.usage, "'--unit path' needs '--watch'")
            }
        }
        let signers = try BundleSigners(invocation)
        guard let target = invocation[Command.targetDirectory], signers.demand != nil,
            invocation.arguments.isEmpty
        else {
            throw CommandError(
                .usage,
                "'--watch' needs '--target-dir' and '--key', and no manifest",
                hint: "bundles in the folder are taken over when the key's owner signed them"
            )
        }
        var keys: [String] = []
        for key in invocation[Command.key] {
            // A key that is given as its line needs no path; the path of its file must be absolute.
            let isLine = (try? MinisignKey(Array(key.utf8))) != nil
            keys.append(isLine ? key : try absolute(key))
        }
        let units = BundleUnits(
            program: try program(),
            folder: try absolute(folder),
            target: try absolute(target),
            keys: keys,
            threshold: invocation[Command.threshold].map { "\($0)" }
        )
        switch unit {
        case nil: return [units.service, units.path]
        case "service": return [units.service]
        case "path": return [units.path]
        default: throw CommandError(.usage, "with '--watch' there is no timer")
        }
    }

    private func program() throws(CommandError) -> String {
        if let given = invocation[Command.program] { return try absolute(given) }
        guard let path = ProgramFile.path else {
            throw CommandError(
                .configuration,
                "the path of this program is not known",
                because: [Descriptor.text(of: errno)],
                hint: "name it with --program PATH"
            )
        }
        return path
    }

    private func absolute(_ path: String) throws(CommandError) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else {
            throw CommandError(
                .configuration,
                "the working directory is not known",
                because: [Descriptor.text(of: errno)],
                hint: "give absolute paths"
            )
        }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    private func rollout() throws(CommandError) -> ServiceUnits.Rollout? {
        guard let manifest = invocation.arguments.first else {
            guard invocation[Command.server] == nil else {
                throw CommandError(.usage, "'--server' needs the manifest")
            }
            return nil
        }
        var sources = PlanSources()
        let plan = try Inputs.plan(manifest, context, common, &sources)
        // With a zone that this machine does not know, the timer could not be loaded.
        _ = try ZoneSource.zone(of: plan, context)
        if let warning = UnitSight.warning(manifest, seesHome: true) {
            context.console.note(warning)
        }
        var rollout = ServiceUnits.Rollout(name: plan.name, manifest: try absolute(manifest))
        if let window = plan.rollout.window {
            rollout.opens = window.openings(ofAny: plan.vehicles).flatMap {
                $0.calendarExpressions(zone: window.zone)
            }
        }
        rollout.connectTimeout = plan.connect.timeout
        if let server = invocation[Command.server] {
            let served = try ServedManifest(sources.bytes(manifest) ?? [], at: manifest, plan)
            rollout.server = ServiceUnits.Server(
                server,
                writing: try absolute(served.target),
                beginsAgain: plan.rollout.again == .whenAsked
            )
        }
        rollout.needsNetwork =
            rollout.server != nil
            || plan.images.contains { image in
                if case .repository = image.trust { return true }
                return ([image.source] + image.mirrors).contains { source in
                    switch source {
                    case .https, .http: true
                    case .file: false
                    }
                }
            }
        let tokens = try invocation[Command.server].map { (name) throws(CommandError) in
            try self.tokens(of: name, for: plan.vehicles)
        }
        let references =
            plan.vehicles.flatMap { [$0.secret, $0.token, $0.bond.passkey, $0.issuer?.key] }
            + (tokens ?? [])
        for case .credential(let name)? in references where !rollout.credentials.contains(name) {
            rollout.credentials.append(name)
        }
        return rollout
    }

    /// The tokens for the update server, where the file that names it is here already.
    private func tokens(
        of server: String,
        for vehicles: [PlannedVehicle]
    ) throws(CommandError) -> [SecretReference] {
        do throws(CommandError) {
            let settings = try ServersFile.server(named: server, in: StateLocation.ofUnits)
            return try ServersFile.references(of: settings, for: vehicles).map(\.secret)
        } catch {
            guard error.kind == .inputMissing else { throw error }
            context.console.note(
                "yardmaster: warning: \(error.sentence) on this machine: print the unit again where "
                    + "it is, if its token is a credential\n"
            )
            return []
        }
    }
}
