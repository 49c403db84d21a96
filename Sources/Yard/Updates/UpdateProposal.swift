import Base
package import Commands
import Families
package import Manifest
package import Operations
import Radio
import Rollout
import Show
import Store

/// What `update` would do: its plan, and a line for each module.
package struct UpdateProposal: Sendable {
    package let plan: FrozenPlan
    package let lines: [String]
}

/// Finds the modules that an image file is meant for, and proposes their update.
package struct UpdateSearch: Sendable {
    private let wish: UpdateWish
    private let options: RunOptions
    private let context: Context

    package init(_ wish: UpdateWish, _ options: RunOptions, _ context: Context) {
        (self.wish, self.options, self.context) = (wish, options, context)
    }

    package enum Found: Sendable {
        case proposed(UpdateProposal)
        /// That a module is not in reach, in words.
        case unheard(CommandError)
    }

    package func found() async throws(CommandError) -> Found {
        let file = try UpdateFile(wish.file, version: wish.version)
        let ground = try UpdateGround(wish, file, state: options.state, options.common.profiles)
        let candidates = ground.targets(try await heard(ground))
        let targets = try ground.chosen(from: candidates)
        guard !targets.isEmpty else { return .unheard(wish.silence(among: candidates)) }
        let modules = try targets.map(planned)
        // Each order is a rollout of its own: an update that was cut off goes on as a debt.
        let plan = FrozenPlan(
            updating: modules,
            to: file.image,
            allowsDowngrade: wish.allowsDowngrade,
            adapters: wish.adapters,
            as: try options.orderName("update")
        )
        let mistakes = JobBuilder(plan, profiles: options.common.profiles).mistakes
        guard mistakes.isEmpty else {
            Inputs.tell(mistakes, context)
            throw CommandError(.usage, "the file cannot be sent", hint: "nothing was touched")
        }
        let rows = forecast(of: plan)
        // A module that is to be left alone, or that owes an update, is not connected to yet.
        let readable = zip(targets, rows).filter { target, row in
            target.debt == nil && row.fate.kind != .inhibited
        }
        let versions = try await versions(of: readable.map(\.1.vehicle), file)
        let lines = zip(targets, rows).map { line($0, $1, file, versions[$0.vehicle]) }
        return .proposed(UpdateProposal(plan: plan, lines: lines))
    }

    // MARK: The air

    private func heard(_ ground: UpdateGround) async throws(CommandError) -> HeardModules {
        // A run that is at work would lose links that it is just making.
        let directory = try context.reach.prepare(options.state)
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try directory.lock(rollout: "update", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        let heard = try await Surroundings(
            options.common.profiles,
            simulation: options.simulation,
            bus: options.bus,
            adapters: wish.adapters,
            state: options.state,
            context
        ).heard(for: wish.length, until: ground.isComplete)
        lock.release()
        return heard
    }

    /// What each module runs now, or why that is not known.
    private func versions(
        of modules: [PlannedVehicle],
        _ file: UpdateFile
    ) async throws(CommandError) -> [VehicleID: String] {
        guard !modules.isEmpty, Signals.exitCode == nil else { return [:] }
        let tour = try InventoryTour(
            FrozenPlan(
                updating: modules,
                to: file.image,
                allowsDowngrade: true,
                adapters: wish.adapters,
                as: "update"
            ),
            for: wish.length,
            state: options.state,
            simulation: options.simulation,
            bus: options.bus,
            fleet: options.fleet,
            options.common,
            context
        )
        var versions: [VehicleID: String] = [:]
        for record in try await tour.records() {
            guard let vehicle = record.vehicle else { continue }
            versions[vehicle] =
                record.problem.map { "(\($0))" }
                ?? record.fact(.version, file.image.part.rawValue)?.value
        }
        return versions
    }

    // MARK: The modules

    /// A module as a row of a fleet list would have it.
    private func planned(_ target: UpdateTarget) throws(CommandError) -> PlannedVehicle {
        let (family, profile) = (target.profile.family, target.profile)
        let isOpen = (try? FamilyRegistry.opener(of: family, nil, by: profile)) != nil
        func demand(_ what: String, _ flag: String) -> CommandError {
            CommandError(
                .usage,
                "the module \(target.vehicle) of family \(family.rawValue) needs its \(what)",
                hint: "add \(flag) file:PATH, credential:NAME or env:NAME"
            )
        }
        if !isOpen, wish.secret == nil, profile.defaultKey == nil {
            throw demand("secret", "--secret")
        }
        if profile.pairing == .passkey, wish.passkey == nil { throw demand("passkey", "--passkey") }
        var bond = PlannedBond()
        bond.passkey = wish.passkey
        return PlannedVehicle(
            id: target.vehicle,
            serial: target.serial,
            family: family,
            profile: profile.name,
            secret: isOpen ? nil : wish.secret,
            bond: bond,
            labels: [],
            steps: [],
            place: Place(file: wish.file, line: 1, column: 1)
        )
    }

    private func forecast(of plan: FrozenPlan) -> [PlanForecast.Row] {
        let now = RealTime().wallTime
        return PlanForecast(
            plan,
            vehicles: plan.vehicles,
            adapters: wish.adapters,
            knowledge: .init(state: options.state, rollout: plan.name, at: now),
            profiles: options.common.profiles,
            zone: .utc,
            now: now
        ).rows
    }

    private func line(
        _ target: UpdateTarget,
        _ row: PlanForecast.Row,
        _ file: UpdateFile,
        _ before: String?
    ) -> String {
        if row.fate.kind == .inhibited { return "\(target.title), \(row.fate.reason)" }
        let version = file.image.version.description
        if before == version { return "\(target.title), \(version) already" }
        let change =
            switch target.debt {
            case nil: "\(before ?? "(not read)") → \(version)"
            case .some(let debt) where debt.image == file.image.digest:
                "an unfinished update to \(version)"
            case .some(let debt): "an unfinished update to \(debt.title), then \(version)"
            }
        return "\(target.title), \(change), about \(row.took.brief)"
    }
}
