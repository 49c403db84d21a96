package import Base
package import Commands
import Families
package import Manifest
package import Operations
import Radio
import Rollout
package import Show
import Store

/// Reads the identity, versions and debts of vehicles: by radio, or from the journal's earlier
/// results.
package struct InventoryTour: Sendable {
    private let plan: FrozenPlan?
    private let chosen: [PlannedVehicle]?
    private let length: Duration
    private let state: String
    private let simulation: SimulationOptions?
    private let bus: String?
    private let fleet: FleetAccess?
    private let common: CommonOptions
    private let context: Context

    /// For the vehicles of a plan, or for every module in reach within `length`.
    package init(
        _ plan: FrozenPlan?,
        for length: Duration,
        state: String,
        simulation: SimulationOptions?,
        bus: String?,
        fleet: FleetAccess? = nil,
        _ common: CommonOptions,
        _ context: Context
    ) throws(CommandError) {
        self.plan = plan
        chosen = try plan.map { (plan) throws(CommandError) in
            try Inputs.selected(plan, common, state: state)
        }
        self.length = length
        self.state = state
        self.simulation = simulation
        self.bus = bus
        self.fleet = fleet
        self.common = common
        self.context = context
    }

    /// Reads the modules, stores their answers, and returns the exit code for a command that did
    /// this.
    package func visit() async throws(CommandError) -> (inventory: Inventory, code: ExitCode) {
        let look = try await look()
        let code = Signals.exitCode ?? (plan == nil ? .done : Self.code(of: look.records))
        return (try known(since: look.began), code)
    }

    /// Reads the modules, stores their answers and returns them.
    func records() async throws(CommandError) -> [InventoryRecord] { try await look().records }

    private func look() async throws(CommandError) -> Look {
        let directory = try context.reach.prepare(state)
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try directory.lock(rollout: "inventory", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        let stop = Signals.catchThem()
        let library = try library(of: plan)
        let targets = try plan.map { (plan) throws(CommandError) in
            try self.targets(of: chosen ?? [], in: plan, library)
        }
        var neighbours: FleetNeighbours?
        if let fleet {
            neighbours = try await FleetNeighbours(fleet, isSimulated: simulation != nil)
        }
        let looked: Result<Look, CommandError>
        do throws(CommandError) {
            let adapter = plan?.radio.adapters.first
            looked = .success(try await survey(targets, library, adapter, neighbours, stop))
        } catch { looked = .failure(error) }
        await neighbours?.close()
        let look = try looked.get()
        let thread = try ThreadExecutor.working("journal")
        let kept = await keep(look.records, on: thread)
        thread.stop()
        lock.release()
        try kept.get()
        return look
    }

    /// The journal's records, whatever wrote them.
    package func known(
        since: WallTime = WallTime(milliseconds: .min)
    ) throws(CommandError) -> Inventory {
        let wanted = chosen.map { Set($0.map(\.id)) }
        do throws(JournalError) {
            return try JournalReader(directory: state).read { view throws(JournalError) in
                try Inventory(in: view, plan: plan, chosen: wanted, since: since)
            }
        } catch { throw CommandError(reading: error, in: state) }
    }

    /// The exit code for a fleet list, of which each vehicle counts.
    private static func code(of records: [InventoryRecord]) -> ExitCode {
        let problems = records.compactMap(\.problem)
        let own = problems.filter { !$0.hasPrefix(InventoryRecord.leftAlone) }
        if own.contains(where: { $0 != InventoryRecord.notHeard }) { return .someFailed }
        return problems.isEmpty ? .done : .someMissed
    }

    private func library(of plan: FrozenPlan?) throws(CommandError) -> ProfileLibrary {
        guard let plan else { return common.profiles }
        return try ProfileFolder.library(of: plan, common, context)
    }

    // MARK: Targets

    /// The targets of a plan; a vehicle whose secret is missing is reported, and the others are
    /// read.
    private func targets(
        of vehicles: [PlannedVehicle],
        in plan: FrozenPlan,
        _ library: ProfileLibrary
    ) throws(CommandError) -> [InventoryTarget] {
        let secrets = SecretSource(context: context, profiles: library)
        return try vehicles.map { (vehicle) throws(CommandError) in
            let profile: Profile
            do throws(PropertyMistake) {
                profile = try library.require(vehicle.profile, of: vehicle.family)
            } catch {
                throw CommandError(.manifest, "\(vehicle.id): \(error.message)", hint: error.hint)
            }
            do throws(CommandError) {
                let access = try secrets.access(to: vehicle)
                return InventoryTarget(
                    serial: vehicle.serial,
                    profile: profile,
                    vehicle: vehicle.id,
                    driver: access.module.driver(profile),
                    bond: JobBuilder.bond(of: vehicle, profile, access.passkey)
                )
            } catch {
                return InventoryTarget(
                    serial: vehicle.serial,
                    profile: profile,
                    vehicle: vehicle.id,
                    driver: nil,
                    refusal: error.sentence
                )
            }
        }
    }

    /// The target for a module in reach; it can be opened when it needs no secret.
    private static func target(
        of module: DiscoveredModule,
        _ library: ProfileLibrary
    ) -> InventoryTarget? {
        guard let profile = library.profile(module.profiles[0], of: module.family) else {
            return nil
        }
        do throws(ModuleSecretError) {
            return InventoryTarget(
                serial: module.serial,
                profile: profile,
                vehicle: nil,
                driver: try FamilyRegistry.opener(of: module.family, nil, by: profile)
                    .driver(profile),
                bond: profile.unattendedBond
            )
        } catch {
            return InventoryTarget(
                serial: module.serial,
                profile: profile,
                vehicle: nil,
                driver: nil,
                refusal: "it is opened by a secret, which a fleet list names"
            )
        }
    }

    // MARK: Reading

    private struct Look: Sendable {
        let began: WallTime
        let records: [InventoryRecord]
    }

    private func survey(
        _ targets: [InventoryTarget]?,
        _ library: ProfileLibrary,
        _ adapter: String?,
        _ neighbours: FleetNeighbours?,
        _ stop: StopSignal
    ) async throws(CommandError) -> Look {
        let body: @Sendable (any Central, any Timekeeper) async -> Result<Look, CommandError> = {
            [length] central, time in
            await Self.look(targets, library, for: length, central, time, neighbours, stop)
        }
        guard let simulation else {
            return try await HostBluetooth.use(
                bus: bus,
                state: state,
                adapters: adapter.map { [$0] } ?? [],
                context,
                body
            )
        }
        let result = try await SimulatedCommand.run(
            simulation,
            context,
            library,
            keptIn: state,
            adapter: adapter,
            body
        )
        return try result.get()
    }

    private static func look(
        _ known: [InventoryTarget]?,
        _ library: ProfileLibrary,
        for length: Duration,
        _ central: any Central,
        _ time: any Timekeeper,
        _ neighbours: FleetNeighbours?,
        _ stop: StopSignal
    ) async -> Result<Look, CommandError> {
        let began = time.wallTime
        var targets = known ?? []
        if known == nil {
            let discovery = Discovery(central: central, time: time, library: library)
            let seen = Latest<[String: DiscoveredModule]>([:])
            do throws(DiscoveryProblem) {
                try await discovery.scan(for: .lasting(length)) { module in
                    var all = seen.value
                    all["\(module.serial) \(module.family.rawValue)"] = module
                    seen.set(all)
                    return stop.isRequested
                }
            } catch {
                return .failure(
                    CommandError(.unavailable, error.sentence, hint: error.remedy)
                )
            }
            targets = seen.value.sorted { $0.key < $1.key }
                .compactMap { target(of: $0.value, library) }
        }
        let survey = InventorySurvey(central: central, time: time, for: length) { serial in
            await neighbours?.objection(to: serial)
        }
        do throws(RadioError) {
            let records = try await survey.look(at: targets) { stop.isRequested }
            return .success(Look(began: began, records: records))
        } catch {
            let problem = DiscoveryProblem(error)
            return .failure(CommandError(.unavailable, problem.sentence, hint: problem.remedy))
        }
    }

    private func keep(
        _ records: [InventoryRecord],
        on thread: ThreadExecutor
    ) async -> Result<Void, CommandError> {
        do throws(JournalError) {
            let journal = try await Journal.open(directory: state, executor: thread)
            do throws(JournalError) {
                try await journal.keep(records)
            } catch {
                await journal.close()
                return .failure(CommandError(error))
            }
            await journal.close()
            return .success(())
        } catch { return .failure(CommandError(error)) }
    }
}
