import Base
package import Commands
import Manifest
package import Operations
package import Radio
import Rollout
import Store

/// Enrols vehicles, or takes one out of service.
package struct VehicleEnrolment: Sendable {
    private let wish: EnrolmentWish
    private let state: String
    private let simulation: SimulationOptions?
    private let bus: String?
    private let library: ProfileLibrary
    private let context: Context
    /// Called with each result as soon as it is known.
    private let report: @Sendable (EnrolmentResult) -> Void

    private var list: EnrolmentList {
        EnrolmentList(wish: wish, state: state, library: library, context: context)
    }

    package init(
        _ wish: EnrolmentWish,
        state: String,
        simulation: SimulationOptions?,
        bus: String?,
        library: ProfileLibrary,
        _ context: Context,
        report: @escaping @Sendable (EnrolmentResult) -> Void
    ) {
        self.wish = wish
        self.state = state
        self.simulation = simulation
        self.bus = bus
        self.library = library
        self.context = context
        self.report = report
    }

    package func perform() async throws(CommandError) -> [EnrolmentResult] {
        // A rehearsal changes copies.
        if context.reach.world != nil {
            let keys = wish.keys.hasPrefix("/") ? wish.keys : "\(wish.folder)/\(wish.keys)"
            for folder in [wish.folder, keys] { try RootRule.demand(folder) }
        }
        let candidates = try list.candidates()
        let directory = try context.reach.prepare(state)
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try directory.lock(rollout: "enrol", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        if wish.receiver != nil, context.reach.world == nil {
            context.console.note("yardmaster: a rehearsal hands no secret to a program\n")
        }
        let stop = Signals.catchThem()
        let results = try await work(candidates, stop)
        lock.release()
        return results
    }

    private func work(
        _ candidates: [EnrolmentCandidate],
        _ stop: StopSignal
    ) async throws(CommandError) -> [EnrolmentResult] {
        guard let simulation else {
            let thread = try ThreadExecutor.working("files")
            defer { thread.stop() }
            return try await HostBluetooth.use(bus: bus, state: state, context) { central, time in
                await work(candidates, central, time, thread, stop)
            }
        }
        let result = try await SimulatedCommand.stage(
            simulation,
            context,
            library,
            keptIn: state
        ) { [self] place in
            await work(candidates, place.central, place.time, place.lane, stop)
        }
        return try result.get()
    }

    private func work(
        _ candidates: [EnrolmentCandidate],
        _ central: any Central,
        _ time: any Timekeeper,
        _ lane: any SerialExecutor,
        _ stop: StopSignal
    ) async -> Result<[EnrolmentResult], CommandError> {
        let journal: Journal
        do throws(JournalError) {
            journal = try await Journal.open(directory: state, executor: lane)
        } catch { return .failure(CommandError(error)) }
        var results: [EnrolmentResult] = []
        for candidate in candidates {
            if stop.isRequested { break }
            let result = await enrol(candidate, central, time, lane, journal, stop)
            results.append(result)
            report(result)
        }
        await journal.close()
        return .success(results)
    }

    private func enrol(
        _ candidate: EnrolmentCandidate,
        _ central: any Central,
        _ time: any Timekeeper,
        _ lane: any SerialExecutor,
        _ journal: Journal,
        _ stop: StopSignal
    ) async -> EnrolmentResult {
        var result = EnrolmentResult(vehicle: candidate.vehicle, outcome: .failed, message: "")
        do throws(EnrolFault) {
            let serial: Serial
            if let known = candidate.serial {
                serial = known
            } else {
                serial = try await find(candidate, central, time, stop)
            }
            result.serial = serial
            guard let fleet = context.reach.file(wish.fleet) else {
                throw EnrolFault(.files, "\(wish.fleet) is only read here", hint: "")
            }
            let files = EnrolmentFiles(
                candidate.vehicle,
                serial,
                fleet: fleet,
                cells: row(of: candidate, serial),
                secrets: candidate.file.map {
                    SecretFiles($0, maker: candidate.maker, sharedWith: candidate.others)
                },
                family: candidate.profile.family,
                journal: journal,
                time: time,
                lane: lane
            )
            let enroller = enroller(of: candidate, serial, files, central, time, stop)
            if wish.undoes {
                try await enroller.undo()
                result.outcome = .undone
                result.message = "\(serial) is out of service and off the list"
                return result
            }
            let record = try await enroller.enrol(rotating: wish.rotates)
            try await files.keep(record)
            if let receiver = wish.receiver, let world = context.reach.world {
                try await files.hand(to: receiver, in: world)
            }
            result.outcome = .enrolled
            result.firmware = record.facts(.version)
            result.secret = candidate.reference
            let versions = record.facts(.version).map { "\($0.name) \($0.value)" }
            result.message =
                ([serial.text, "\(candidate.profile.family.rawValue)/\(candidate.profile.name)"]
                + versions
                + (candidate.reference.map { ["secret in \($0)"] } ?? [])).joined(separator: ", ")
        } catch {
            result.outcome = error.kind == .notHeard ? .unreachable : .failed
            result.message = "\(error.sentence); \(error.hint)"
            result.fault = error.kind
        }
        return result
    }

    private func enroller(
        of candidate: EnrolmentCandidate,
        _ serial: Serial,
        _ files: EnrolmentFiles,
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal
    ) -> Enroller {
        Enroller(
            EnrolTarget(
                vehicle: candidate.vehicle,
                serial: serial,
                profile: candidate.profile,
                bond: candidate.bond
            ),
            keeper: files,
            central: central,
            time: time,
            searchingFor: wish.search,
            chance: {
                var source = SystemRandomNumberGenerator()
                return source.next()
            },
            unless: { stop.isRequested }
        )
    }

    private func row(of candidate: EnrolmentCandidate, _ serial: Serial) -> [(
        column: String, text: String
    )] {
        var row: [(column: String, text: String)] = [
            (column: "id", text: candidate.vehicle.text), ("serial", serial.text),
            ("family", candidate.profile.family.rawValue),
        ]
        if candidate.profile.name != Profile.generic {
            row.append(("profile", candidate.profile.name))
        }
        if let reference = candidate.reference { row.append(("secret", reference)) }
        return row + candidate.labels.map { (column: $0.column, text: $0.text) }
    }

    // MARK: Finding

    /// The module with the strongest signal that is not listed, or the one with the given name.
    private func find(
        _ candidate: EnrolmentCandidate,
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal
    ) async throws(EnrolFault) -> Serial {
        let listed: Set<Serial>
        do throws(CommandError) {
            listed = Set(try list.read(wish.fleet).entries.compactMap { Serial($0.serial) })
        } catch { throw EnrolFault(.files, error.sentence, hint: error.hint ?? "fix it") }
        let seen = Latest<[Serial: DiscoveredModule]>([:])
        let discovery = Discovery(central: central, time: time, library: library)
        do throws(DiscoveryProblem) {
            try await discovery.scan(for: .lasting(wish.search)) { module in
                var all = seen.value
                if module.family == candidate.profile.family, !module.isInBootloader,
                    !listed.contains(module.serial),
                    candidate.name.map({ $0 == module.name }) ?? true
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
                candidate.name.map {
                    "no module with the name \($0.visible) that is not listed is in reach"
                }
                    ?? "no module that is not listed is in reach",
                hint: "wake it, bring it nearer, and try again"
            )
        }
        // A module with nearly the same signal may belong to the next vehicle.
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
}
