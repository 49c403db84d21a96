import Commands
import Domain
import Families
import Glibc
import Manifest
import Modules
import Radio
import Rollout
import Wire

/// `watch`: what the properties of one vehicle are, as they change.
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
        guard let fleet = invocation.value("fleet") else {
            throw CommandError(
                .usage,
                "nothing says where the vehicle \(vehicle.visible) is listed",
                hint: "name a manifest with --fleet MANIFEST"
            )
        }
        self.fleet = fleet
        names = invocation.values("property")
        length = invocation.value("for").flatMap { Duration(text: $0) }
        simulation = SimulationOptions(invocation)
        bus = invocation.value("bus")
        common = try CommonOptions(invocation, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(fleet, context, common)
        let planned = try vehicle(of: plan)
        let library = try ProfileFolder.library(of: plan, common, context)
        let profile = try profile(of: planned, in: library)
        let key = try SecretSource(context: context).key(for: planned)
        let stop = Signals.catchThem()
        guard let simulation else {
            return try await RealSite.use(bus: bus, context) { central, time in
                let end = length ?? .seconds(86_400 * 365)
                return await watch(planned, key, profile, library, central, time, stop, for: end)
            }
        }
        let result = try await SimulatedStage.run(simulation, context, library) {
            [self] central, time in
            // A simulated vehicle rests: without an end it would be watched for ever in no time.
            let end = length ?? .seconds(30)
            return await watch(planned, key, profile, library, central, time, stop, for: end)
        }
        return try result.get()
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
        guard planned.family == .comodule else {
            throw CommandError(
                .configuration,
                "modules of family \(planned.family.rawValue) have no properties to watch"
            )
        }
        do throws(PropertyMistake) {
            let profile = try library.require(planned.profile, of: planned.family)
            for name in names { try profile.checkReadable(name) }
            return profile
        } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
    }

    /// Connects and tells of what changes; generic over the radio.
    func watch(
        _ planned: PlannedVehicle,
        _ key: ComoduleKey,
        _ profile: Profile,
        _ library: ProfileLibrary,
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal,
        for length: Duration?
    ) async -> Result<ExitCode, CommandError> {
        var options = ModuleConnection.Options()
        options.reconnects = true
        options.profiles = .of(profile)
        let connection = ModuleConnection(central: central, time: time, library: library)
        let secret = key.withBytes { Secret(Array(Hex.text($0).utf8)) }
        let wanted = options
        let error = await stop.ending(by: time) { () async -> ConnectError? in
            await connection.tended { connection in
                do throws(ConnectError) {
                    try await connection.connect(
                        planned.serial,
                        secret: secret,
                        timeout: .seconds(60),
                        options: wanted
                    )
                } catch { return error == .aborted ? nil : error }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await tell(connection, profile, time) }
                    if let length {
                        await time.sleep(for: length, "the end of the watch")
                    } else {
                        await group.waitForAll()
                    }
                    group.cancelAll()
                }
                return nil
            }
        }
        if let error {
            return .failure(
                CommandError(
                    .unavailable,
                    "\(planned.id): \(error.sentence)",
                    hint: error.remedy
                )
            )
        }
        switch Signals.received {
        case SIGINT?: return .success(.interrupted)
        case .some: return .success(.terminated)
        case nil: return .success(.done)
        }
    }

    /// A line for each value, and one for each change of it.
    private func tell(
        _ connection: ModuleConnection,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async {
        var known: [String: PropertyValue] = [:]
        var wasThere = true
        for await list in connection.properties.values() {
            guard case .available(let listing) = list else {
                if wasThere, !common.isQuiet { context.console.note("the link is lost\n") }
                wasThere = false
                continue
            }
            wasThere = true
            var text = ""
            for reading in listing.readable {
                guard names.isEmpty || names.contains(reading.name),
                    known[reading.name] != reading.value
                else { continue }
                known[reading.name] = reading.value
                let unit = profile.properties.first { $0.name == reading.name }?.unit
                text += line(reading, unit, at: time.wallTime)
            }
            if !text.isEmpty { context.console.result(text) }
        }
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
