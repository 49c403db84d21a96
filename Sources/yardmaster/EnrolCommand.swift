import Commands
import Domain
import Families
import Glibc
import Journal
import Manifest
import Modules
import Operations
import Radio
import Rollout
import SourceTree
import Threads
import Wire

/// `enrol`: brings vehicles into service, or takes one out of it.
struct EnrolCommand: Sendable {
    private let vehicle: String?
    private let fleet: String
    private let batch: String?
    private let serial: String?
    private let name: String?
    private let family: String
    private let profile: String
    private let oldSecret: String?
    private let passkey: String?
    private let keys: String
    private let credentials: String?
    /// A program of the operator's that gets each secret that was proven.
    private let receiver: String?
    private let rotates: Bool
    private let undoes: Bool
    private let search: Duration
    private let state: String
    private let simulation: SimulationOptions?
    private let bus: String?
    private let library: ProfileLibrary
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        guard let fleet = invocation.value("fleet") else {
            throw CommandError(
                .usage,
                "nothing says which list gets the vehicle's row",
                hint: "name the fleet list with --fleet FLEET.csv"
            )
        }
        self.fleet = fleet
        vehicle = invocation.arguments.first
        batch = invocation.value("batch")
        serial = invocation.value("serial")
        name = invocation.value("name")
        family = invocation.value("family") ?? FamilyRegistry.shapes[0].family.rawValue
        profile = invocation.value("profile") ?? Profile.generic
        oldSecret = invocation.value("old-secret")
        passkey = invocation.value("passkey")
        keys = invocation.value("keys") ?? "keys"
        credentials = invocation.value("credentials")
        receiver = invocation.value("hand-to")
        rotates = invocation.has("rotate")
        undoes = invocation.has("undo")
        search = invocation.value("for").flatMap { Duration(text: $0) } ?? .seconds(30)
        state = try CommonOptions.stateDirectory(invocation, context)
        simulation = SimulationOptions(invocation)
        bus = invocation.value("bus")
        common = try CommonOptions(invocation, context)
        library = common.profiles
        self.context = context
        guard (vehicle == nil) != (batch == nil) else {
            throw CommandError(
                .usage,
                vehicle == nil ? "no vehicle is named" : "a vehicle is named beside --batch",
                hint: "give the vehicle's id, or --batch FILE.csv"
            )
        }
        guard !undoes || batch == nil && !rotates && serial == nil && name == nil else {
            throw CommandError(.usage, "--undo takes one vehicle of the list, and no more")
        }
    }

    // MARK: What is to be done

    /// One vehicle that is to be enrolled.
    private struct NewVehicle: Sendable {
        let vehicle: VehicleID
        /// Nil for the strongest one, or the one of this name.
        var serial: Serial?
        var name: String?
        let profile: Profile
        let bond: BondPolicy
        let maker: Secret?
        /// What its row has besides.
        let labels: [Cell]
        /// Where its secret is kept, and how the list says it; nil in a family without.
        let path: String?
        let reference: String?
    }

    private struct Cell: Sendable {
        let column: String
        let text: String
    }

    private struct Result: Sendable {
        let vehicle: VehicleID
        var serial: Serial?
        var outcome: String
        var message: String
        var firmware: [InventoryRecord.Fact] = []
        var secret: String?
        var fault: EnrolFault.Kind?
    }

    private var folder: String {
        guard let slash = fleet.lastIndex(of: "/") else { return "." }
        return slash == fleet.startIndex ? "/" : String(fleet[..<slash])
    }

    private func read(_ path: String) throws(CommandError) -> FleetFile {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try TextFile.read(path: path, limit: 32 << 20) } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "make it with a first row such as: id,serial,family,profile,secret"
            )
        }
        let diagnostics = Diagnostics()
        guard let file = FleetFile(bytes, file: path, diagnostics) else {
            Inputs.tell(diagnostics.list, context)
            throw Inputs.invalid(path, diagnostics.list)
        }
        return file
    }

    private func orders() throws(CommandError) -> [NewVehicle] {
        let list = try read(fleet)
        guard let batch else {
            guard let text = vehicle, let id = VehicleID(text) else {
                throw CommandError(.usage, "'\((vehicle ?? "").visible)' is no vehicle's id")
            }
            let listed = list.entries.first { $0.id == id.text }
            let left = undoes && listed == nil ? leaving(id) : nil
            return [
                try order(
                    id,
                    serial: serial ?? left?.serial.text ?? (name == nil ? listed?.serial : nil),
                    family: listed?.family ?? left?.family.rawValue ?? family,
                    profile: listed?.profile ?? profile,
                    old: oldSecret,
                    passkey: passkey ?? listed?.passkey,
                    labels: passkey.map { [Cell(column: "passkey", text: $0)] } ?? [],
                    list
                )
            ]
        }
        let pallet = try read(batch)
        let known: Set<String> = [
            "id", "serial", "family", "profile", "old-secret", "secret", "passkey",
        ]
        var orders: [NewVehicle] = []
        for (number, row) in pallet.entries.enumerated() {
            guard let id = VehicleID(row.id) else {
                throw CommandError(.manifest, "\(batch): '\(row.id.visible)' is no vehicle's id")
            }
            let cells = pallet.cells(ofRow: number)
            orders.append(
                try order(
                    id,
                    serial: row.serial,
                    family: row.family,
                    profile: row.profile ?? profile,
                    old: cells.first { $0.column == "old-secret" }?.text ?? oldSecret,
                    passkey: row.passkey ?? passkey,
                    labels: cells.filter { !known.contains($0.column) && list.has($0.column) }
                        .map { Cell(column: $0.column, text: $0.text) }
                        + ((row.passkey ?? passkey).map { [Cell(column: "passkey", text: $0)] }
                            ?? []),
                    list
                )
            )
        }
        return orders
    }

    /// A vehicle that was on its way out of service when the last run was broken off.
    private func leaving(_ id: VehicleID) -> EnrolmentRecord? {
        let known = try? JournalReader(directory: state).read { view throws(JournalError) in
            try view.enrolments()
        }
        return known?.first { $0.vehicle == id && $0.stage == .leaving }
    }

    private func order(
        _ id: VehicleID,
        serial text: String?,
        family: String,
        profile: String,
        old: String?,
        passkey: String?,
        labels: [Cell],
        _ list: FleetFile
    ) throws(CommandError) -> NewVehicle {
        guard let family = FamilyRegistry.family(named: family) else {
            throw CommandError(.usage, "'\(family.visible)' is not a family of modules")
        }
        let found: Profile
        do throws(PropertyMistake) { found = try library.require(profile, of: family) } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
        guard found.advertisement != nil else {
            throw CommandError(
                .usage,
                "devices of family \(family.rawValue) look for us and are not enrolled by radio",
                hint: "add the vehicle to the fleet list by hand"
            )
        }
        let bond = try bond(of: id, found, passkey)
        var wanted: Serial?
        if let text {
            guard let serial = Serial(text) else {
                throw CommandError(.usage, "'\(text.visible)' is no serial")
            }
            wanted = serial
        }
        let listed = list.entries.first { $0.id == id.text }
        if let listed, let wanted, Serial(listed.serial) != wanted {
            throw CommandError(
                .usage,
                "\(id) is listed with the serial \(listed.serial.visible)",
                hint: "'enrol --undo \(id)' takes it out of service first"
            )
        }
        if let other = list.entries.first(where: { $0.id != id.text && Serial($0.serial) == wanted }
        ),
            wanted != nil
        {
            throw CommandError(.usage, "that serial is listed as \(other.id.visible)")
        }
        if undoes, listed == nil, leaving(id) == nil {
            throw CommandError(.usage, "\(fleet) has no vehicle \(id)")
        }
        let maker = try old.map { (text) throws(CommandError) in try secret(text, of: id) }
        guard FamilyRegistry.secrets(of: family) != nil else {
            return NewVehicle(
                vehicle: id,
                serial: wanted,
                name: name,
                profile: found,
                bond: bond,
                maker: nil,
                labels: labels,
                path: nil,
                reference: nil
            )
        }
        let (path, reference) = try place(of: id, listed?.secret ?? "")
        return NewVehicle(
            vehicle: id,
            serial: wanted,
            name: name,
            profile: found,
            bond: bond,
            maker: maker,
            labels: labels,
            path: path,
            reference: reference
        )
    }

    /// As the list says it, or else a file of its own: in the folder of keys, or in that of credentials.
    private func place(
        of id: VehicleID,
        _ listed: String
    ) throws(CommandError) -> (path: String, reference: String) {
        func path(_ text: String) -> String { text.hasPrefix("/") ? text : folder + "/" + text }
        if listed.hasPrefix("file:") { return (path(String(listed.dropFirst(5))), listed) }
        if listed.hasPrefix("credential:"), let credentials {
            return (path(credentials) + "/" + listed.dropFirst(11), listed)
        }
        guard listed.isEmpty else {
            throw CommandError(
                .configuration,
                "the secret of \(id) is not kept in a file",
                hint: listed.hasPrefix("credential:")
                    ? "say with --credentials DIR in which folder the service manager finds it"
                    : "enrol puts secrets into files; name one in its row, as in file:keys/\(id).key"
            )
        }
        let plain = String(
            decoding: id.text.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
        let name = plain.hasPrefix(".") ? "_" + plain : plain
        if let credentials { return ("\(path(credentials))/\(name)", "credential:\(name)") }
        return (path("\(keys)/\(name).key"), "file:\(keys)/\(name).key")
    }

    /// Who gives a passkey means it.
    private func bond(
        of id: VehicleID,
        _ profile: Profile,
        _ passkey: String?
    ) throws(CommandError) -> BondPolicy {
        guard let passkey, !passkey.isEmpty else {
            guard profile.pairing != .passkey else {
                throw CommandError(
                    .usage,
                    "modules of the profile \(profile.name) are paired with by passkey",
                    hint: "name where the digits of \(id) are kept: --passkey, or a column passkey"
                )
            }
            return profile.unattendedBond
        }
        let reference = try reference(passkey, "the passkey")
        return BondPolicy(
            .passkey(try SecretSource(context: context).passkey(reference, of: "vehicle \(id)"))
        )
    }

    private func secret(_ text: String, of id: VehicleID) throws(CommandError) -> Secret {
        let reference = try reference(text, "the old secret")
        return try SecretSource(context: context).read(reference, of: "vehicle \(id)")
    }

    private func reference(
        _ text: String,
        _ what: String
    ) throws(CommandError) -> SecretReference {
        let reference: SecretReference
        do throws(SecretReference.ParseError) {
            reference = try SecretReference(text, relativeTo: folder)
        } catch {
            throw CommandError(
                .usage,
                "what says where \(what) is kept is no reference",
                hint:
                    "write it as in file:maker.key; the secret itself has no place on a command line"
            )
        }
        return reference
    }

    // MARK: Doing it

    func run() async throws(CommandError) -> ExitCode {
        let orders = try orders()
        let directory = try StateDirectory.prepared(at: state)
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try directory.lock(rollout: "enrol", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        let stop = Signals.catchThem()
        let results = try await work(orders, stop)
        lock.release()
        return tell(results)
    }

    private func work(
        _ orders: [NewVehicle],
        _ stop: StopSignal
    ) async throws(CommandError) -> [Result] {
        guard let simulation else {
            let thread = try ThreadExecutor.working("files")
            defer { thread.stop() }
            return try await HostBluetooth.use(bus: bus, state: state, context) { central, time in
                await work(orders, central, time, thread, stop)
            }
        }
        let result = try await SimulatedCommand.stage(
            simulation,
            context,
            library,
            keptIn: state
        ) { [self] place in
            await work(orders, place.central, place.time, place.lane, stop)
        }
        return try result.get()
    }

    private func work(
        _ orders: [NewVehicle],
        _ central: any Central,
        _ time: any Timekeeper,
        _ lane: any SerialExecutor,
        _ stop: StopSignal
    ) async -> Swift.Result<[Result], CommandError> {
        let journal: Journal
        do throws(JournalError) {
            journal = try await Journal.open(directory: state, executor: lane)
        } catch { return .failure(CommandError(error)) }
        var results: [Result] = []
        for order in orders {
            if stop.isRequested { break }
            let result = await enrol(order, central, time, lane, journal, stop)
            results.append(result)
            if !common.isQuiet, !common.wantsJSON {
                context.console.result("\(order.vehicle) \(result.outcome): \(result.message)\n")
            }
        }
        await journal.close()
        return .success(results)
    }

    private func enrol(
        _ order: NewVehicle,
        _ central: any Central,
        _ time: any Timekeeper,
        _ lane: any SerialExecutor,
        _ journal: Journal,
        _ stop: StopSignal
    ) async -> Result {
        var result = Result(vehicle: order.vehicle, outcome: "failed", message: "")
        do throws(EnrolFault) {
            let serial: Serial
            if let known = order.serial {
                serial = known
            } else {
                serial = try await find(order, central, time, stop)
            }
            result.serial = serial
            let files = EnrolmentFiles(
                order.vehicle,
                serial,
                fleet: fleet,
                cells: row(of: order, serial),
                secrets: order.path.map { SecretFiles(path: $0, maker: order.maker) },
                family: order.profile.family,
                journal: journal,
                time: time,
                lane: lane
            )
            let enroller = Enroller(
                EnrolTarget(
                    vehicle: order.vehicle,
                    serial: serial,
                    profile: order.profile,
                    bond: order.bond
                ),
                keeper: files,
                central: central,
                time: time,
                searchingFor: search,
                chance: {
                    var source = SystemRandomNumberGenerator()
                    return source.next()
                },
                unless: { stop.isRequested }
            )
            if undoes {
                try await enroller.undo()
                result.outcome = "undone"
                result.message = "\(serial) is out of service and off the list"
                return result
            }
            let record = try await enroller.enrol(rotating: rotates)
            try await files.keep(record)
            if let receiver { try await files.hand(to: receiver) }
            result.outcome = "enrolled"
            result.firmware = record.facts(.version)
            result.secret = order.reference
            let versions = record.facts(.version).map { "\($0.name) \($0.value)" }
            result.message =
                ([serial.text, "\(order.profile.family.rawValue)/\(order.profile.name)"] + versions
                + (order.reference.map { ["secret in \($0)"] } ?? [])).joined(separator: ", ")
        } catch {
            result.outcome = error.kind == .notHeard ? "unreachable" : "failed"
            result.message = "\(error.sentence); \(error.hint)"
            result.fault = error.kind
        }
        return result
    }

    private func row(of order: NewVehicle, _ serial: Serial) -> [(column: String, text: String)] {
        var row: [(column: String, text: String)] = [
            (column: "id", text: order.vehicle.text), ("serial", serial.text),
            ("family", order.profile.family.rawValue),
        ]
        if order.profile.name != Profile.generic { row.append(("profile", order.profile.name)) }
        if let reference = order.reference { row.append(("secret", reference)) }
        return row + order.labels.map { (column: $0.column, text: $0.text) }
    }

    // MARK: Finding

    /// The strongest one that is not listed, or the one of a name.
    private func find(
        _ order: NewVehicle,
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal
    ) async throws(EnrolFault) -> Serial {
        let listed: Set<Serial>
        do throws(CommandError) {
            listed = Set(try read(fleet).entries.compactMap { Serial($0.serial) })
        } catch { throw EnrolFault(.files, error.sentence, hint: error.hint ?? "fix it") }
        let seen = Latest<[Serial: DiscoveredModule]>([:])
        let discovery = Discovery(central: central, time: time, library: library)
        do throws(DiscoveryProblem) {
            try await discovery.scan(for: .lasting(search)) { module in
                var all = seen.value
                if module.family == order.profile.family, !module.isInBootloader,
                    !listed.contains(module.serial),
                    order.name.map({ $0 == module.name }) ?? true
                {
                    all[module.serial] = module
                    seen.set(all)
                }
                return stop.isRequested
            }
        } catch { throw EnrolFault(.failed, error.sentence, hint: error.remedy) }
        let found = seen.value.values.sorted {
            ($1.signal, $0.serial) < ($0.signal, $1.serial)
        }
        guard let first = found.first else {
            throw EnrolFault(
                .notHeard,
                order.name.map {
                    "no module of the name \($0.visible) that is not listed is in reach"
                }
                    ?? "no module that is not listed is in reach",
                hint: "wake it, bring it nearer, and try again"
            )
        }
        // Who is about as near may be the vehicle beside it.
        if let second = found.dropFirst().first, first.signal - second.signal < Self.margin {
            throw EnrolFault(
                .refused,
                "\(first.serial) (\(first.signal) dBm) and \(second.serial) (\(second.signal) dBm) "
                    + "are about as near",
                hint: "bring one nearer, or name it with --serial"
            )
        }
        return first.serial
    }

    private static let margin = 6

    // MARK: Telling

    private func tell(_ results: [Result]) -> ExitCode {
        let faults = results.compactMap(\.fault)
        let code: ExitCode =
            Signals.exitCode
            ?? (faults.isEmpty
                ? .done : faults.allSatisfy { $0 == .notHeard } ? .someMissed : .someFailed)
        guard common.wantsJSON else {
            if common.isQuiet {
                for result in results where result.fault != nil {
                    context.console.result(
                        "\(result.vehicle) \(result.outcome): \(result.message)\n"
                    )
                }
            }
            return code
        }
        let document = JSONValue.object([
            "schema": 1,
            "vehicles": .array(
                results.map { result in
                    .object([
                        "vehicle": .string(result.vehicle.text),
                        "serial": result.serial.map { .string($0.text) },
                        "outcome": .string(result.outcome),
                        "message": .string(result.message),
                        "secret": result.secret.map { .string($0) },
                        "firmware": .object(
                            result.firmware.map { JSONMember($0.name, .string($0.value)) }
                        ),
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(code.rawValue)), "reason": .string(code.sentence),
            ]),
        ])
        context.console.result(document.text + "\n")
        return code
    }
}
