import Base
import Commands
import Families
import Manifest
import Operations
import Radio
import Rollout
import Yard

/// `watch`: the properties of one vehicle, as they change.
struct WatchCommand: Sendable {
    let vehicle: String
    let fleet: String
    let names: [String]
    let length: Duration?
    let simulation: SimulationOptions?
    let bus: String?
    let common: CommonOptions
    let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        vehicle = invocation.arguments[0]
        guard let fleet = invocation[Command.manifest] else {
            throw CommandError(
                .usage,
                "no manifest is given that lists the vehicle \(vehicle.visible)",
                hint: "name a manifest with --manifest FILE"
            )
        }
        self.fleet = fleet
        names = invocation[Command.property]
        length = invocation[Command.watchLength]
        simulation = SimulationOptions(invocation)
        bus = invocation[Command.bus]
        common = try CommonOptions(invocation, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(fleet, context, common)
        let planned = try vehicle(of: plan)
        let library = try ProfileFolder.library(of: plan, common, context)
        let profile = try profile(of: planned, in: library)
        let secrets = SecretSource(context: context, profiles: library)
        let stop = Signals.catchThem()
        let driver = try secrets.access(to: planned).module.driver(profile)
        let body:
            @Sendable (any Central, any Timekeeper, Duration) async
                -> Result<ExitCode, CommandError> = { [self] central, time, end in
                    await follow(planned, driver, profile, central, time, stop, for: end)
                }
        guard let simulation else {
            return try await HostBluetooth.use(bus: bus, context) { central, time in
                await body(central, time, length ?? .seconds(86_400 * 365))
            }
        }
        let result = try await SimulatedCommand.run(simulation, context, library) {
            [length] central, time in
            // A simulated vehicle changes nothing: without an end, the watch would run forever
            // without real time.
            await body(central, time, length ?? .seconds(30))
        }
        return try result.get()
    }

    /// Reads the properties repeatedly, over lost links.
    private func follow(
        _ planned: PlannedVehicle,
        _ driver: any UpdateDriver,
        _ profile: Profile,
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal,
        for length: Duration
    ) async -> Result<ExitCode, CommandError> {
        let watch = PropertyWatch(
            serial: planned.serial,
            driver: driver,
            profile: profile,
            names: names,
            central: central,
            time: time,
            stop: stop
        )
        let (context, isQuiet) = (context, common.isQuiet)
        let failure = await watch.follow(until: time.now.advanced(by: length)) {
            context.console.result(line($0, $1, at: time.wallTime))
        } lost: {
            if !isQuiet { context.console.note("the link is lost\n") }
        }
        if let failure {
            return .failure(CommandError(.unavailable, "\(planned.id): \(failure)"))
        }
        return Self.end
    }

    private static var end: Result<ExitCode, CommandError> {
        .success(Signals.exitCode ?? .done)
    }

    private func vehicle(of plan: FrozenPlan) throws(CommandError) -> PlannedVehicle {
        let found = plan.vehicles.first { $0.id.text == vehicle || $0.serial.text == vehicle }
        if let found { return found }
        throw CommandError(
            .usage,
            "\(fleet) has no vehicle \(vehicle.visible)",
            hint: "'yardmaster plan \(fleet)' lists them"
        )
    }

    private func profile(
        of planned: PlannedVehicle,
        in library: ProfileLibrary
    ) throws(CommandError) -> Profile {
        let profile: Profile
        do throws(PropertyMistake) {
            profile = try library.require(planned.profile, of: planned.family)
            for name in names { try profile.checkReadable(name) }
        } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
        guard profile.properties.contains(where: \.access.isReadable) else {
            throw CommandError(
                .configuration,
                "modules of family \(planned.family.rawValue) have no properties to watch"
            )
        }
        return profile
    }

    private func line(_ reading: PropertyReading, _ unit: String?, at time: WallTime) -> String {
        if common.wantsJSON {
            let value: JSONValue =
                switch reading.value {
                case .number(let number): .number(number)
                case .state, .unknownState, .bytes: .string(reading.value.text)
                }
            let document = JSONValue.object([
                "time": .string(time.description), "property": .string(reading.name),
                "value": value, "unit": unit.map { .string($0) },
            ])
            return document.text + "\n"
        }
        return "\(time) \(reading.name) \(reading.value)\(unit.map { " " + $0 } ?? "")\n"
    }
}
