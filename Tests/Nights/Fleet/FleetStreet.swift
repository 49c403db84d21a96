import Base
import Families
import Manifest
import Operations
import Radio
import Rollout
import Samples
import Show
import Simulation
import Store
import Synchronization

/// Gateways along a street of modules, at work on one rollout in virtual time over a real PostgreSQL: who takes
/// which vehicle, and how long all of it takes.
package struct FleetStreet: Sendable {
    /// One module, and how each gateway hears it.
    package struct Module: Sendable {
        package var imageSize = 97 * 1_024
        package var interval = 15
        package var restart = Duration.seconds(3)
        package var activation = Duration.seconds(4)
        /// In dBm, by gateway; nil where it is not heard.
        package var signals: [Int?]

        package init(_ signals: [Int?]) { self.signals = signals }
    }

    /// Something that is done to a gateway.
    package enum Incident: Sendable {
        case drain
        /// Its process is gone, and does not come back.
        case kill
    }

    /// From then on the gateway does not hear the vehicle.
    package struct Leave: Sendable {
        package let vehicle: Int
        package let gateway: Int
        package let second: Int

        package init(vehicle: Int, gateway: Int, second: Int) {
            (self.vehicle, self.gateway, self.second) = (vehicle, gateway, second)
        }
    }

    package var seed: UInt64
    package var modules: [Module]
    package var gateways: Int
    /// What else stands in the manifest.
    package var policy = ""
    /// After so many seconds.
    package var incidents: [(second: Int, gateway: Int, what: Incident)] = []
    package var leaves: [Leave] = []
    /// Gateways of which each link breaks as soon as it is made.
    package var broken: Set<Int> = []

    package init(seed: UInt64, _ modules: [Module], gateways: Int) {
        (self.seed, self.modules, self.gateways) = (seed, modules, gateways)
    }

    /// What became of it.
    package struct Account: Sendable {
        /// By vehicle: whose verdict counts, and what it is.
        package var verdicts: [(gateway: String, outcome: String)] = []
        /// Of each gateway's work: vehicle, from when.
        package var begun: [(at: Duration, gateway: Int, vehicle: Int)] = []
        /// From the first start to the last verdict.
        package var took = Duration.zero
        /// Of all links together.
        package var linked = Duration.zero
        /// Grants of a module to another holder while one had it.
        package var faults = 0
        /// Of each gateway: how attempts and vehicles ended, for people.
        package var ends: [String] = []
    }

    package static func name(_ gateway: Int) -> String { "g\(gateway + 1)" }
    private static let key = String(repeating: "11", count: 20)
    private static func serial(_ module: Int) -> String {
        let digits = String(module + 1, radix: 16)
        return "00c0" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }

    package func live() throws -> Account {
        let ground = try FleetNightGround.shared.get()
        let simulated = try SimulatedDepot(try depot(), seed: seed)
        let street = self
        return try simulated.simulation.run { () async -> Result<Account, any Error> in
            do { return .success(try await street.live(simulated, ground)) } catch {
                return .failure(error)
            }
        }.get()
    }

    // MARK: Files

    private func depot() throws -> DepotFile {
        var text = "name: street\nseed: 1\nadapters: ["
        text += (0..<gateways).map { "hci\(10 * $0)" }.joined(separator: ", ")
        text += "]\nimage-capacity: 256KiB\nmodules:\n"
        for (number, module) in modules.enumerated() {
            text += "  - {serial: \"\(Self.serial(number))\", key: \"\(Self.key)\", type: 17, "
            text += "version: \"4.11.3\", signal: -1, "
            text += "restart-time: \(module.restart.nanoseconds / 1_000_000)ms, "
            text += "activation-time: \(module.activation.nanoseconds / 1_000_000)ms, "
            text += "link: {interval: \(module.interval)ms}}\n"
        }
        return try NightDepot.parsed(text)
    }

    private var sizes: [Int] { Set(modules.map(\.imageSize)).sorted() }

    private func plan() throws -> FrozenPlan {
        var text = "name: street\nvehicles: {from: fleet.csv}\nimages:\n"
        for size in sizes {
            text += "  city-\(size):\n    url: file:city-\(size)\n"
            text += "    sha256: \"\(Self.digest(size))\"\n    version: \"4.12.0\"\n"
            text += "    fits: {family: comodule, type: 17, variant: 0}\n"
        }
        text += "steps: [{wait: 1s}]\n\(policy)\n"
        var fleet = "id,serial,family,secret,steps\n"
        for (number, module) in modules.enumerated() {
            fleet += "v\(number + 1),\(Self.serial(number)),comodule,file:key,"
            fleet += "\"[{update: city-\(module.imageSize)}]\"\n"
        }
        let read = try ManifestReader.read(
            Array(text.utf8),
            path: "manifest.yaml",
            files: { (path, _) throws(FileError) in
                path.hasSuffix("fleet.csv") ? Array(fleet.utf8) : Array("x".utf8)
            }
        )
        guard let plan = read.plan else {
            throw NightDepot.Mistake(description: "\(read.diagnostics)\n\(text)")
        }
        return plan
    }

    private static func digest(_ size: Int) -> SHA256Digest {
        SHA256.digest(of: Array("city \(size)".utf8))
    }

    private static func parts(_ size: Int) -> [FirmwarePart] {
        var random = SplitMix64(seed: UInt64(size))
        let firmware = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(firmware.count),
            digest: SHA256.digest(of: firmware),
            firmwareVersion: FirmwareVersion(4, 12).packed
        )
        return [FirmwarePart(initPacket: packet.serialized, firmware: firmware)]
    }

    // MARK: Life

    private func live(
        _ simulated: SimulatedDepot,
        _ ground: FleetNightGround
    ) async throws -> Account {
        try await simulated.populate()
        let simulation = simulated.simulation
        let admin = try ground.database(simulation)
        try await ground.prepare(admin)
        var made: [FleetNightGateway] = []
        for number in 0..<self.gateways {
            made.append(
                FleetNightGateway(
                    number,
                    seed: seed,
                    try await Journal.inMemory(executor: simulation.worldLane),
                    simulation.time
                )
            )
        }
        let (gateways, notes) = (made, FleetStreetNotes())
        let (plan, began) = (try plan(), simulation.time.now)
        await withTaskGroup(of: Void.self) { group in
            await withTaskGroup(of: Void.self) { runs in
                for gateway in gateways {
                    runs.addTask {
                        do {
                            try await work(gateway, plan, simulated, ground) { event in
                                let at = began.duration(to: simulation.time.now)
                                notes.with { $0.note(event, at, gateway.number) }
                            }
                        } catch { notes.fails(error) }
                    }
                }
                for incident in incidents {
                    group.addTask {
                        await simulation.time.sleep(for: .seconds(incident.second), "an incident")
                        guard !Task.isCancelled else { return }
                        do {
                            try await strike(incident.what, gateways[incident.gateway], admin)
                        } catch { notes.fails(error) }
                    }
                }
            }
            group.cancelAll()
        }
        if let failure = notes.failure { throw failure }
        var account = notes.account
        for number in gateways.indices {
            account.linked += await simulation.air.linkTime(of: "hci\(10 * number)")
        }
        let rows = try await admin.rows(
            "look",
            """
            SELECT e.vehicle, coalesce(e.gateway, ''), coalesce(e.outcome, e.state),
              (SELECT (extract(epoch FROM max(v.at)) * 1000000)::bigint
                FROM yardmaster.verdict v)
            FROM yardmaster.execution e
            """
        )
        account.verdicts = .init(repeating: ("", ""), count: modules.count)
        for row in rows {
            guard let number = row.text(0).flatMap({ Int($0.dropFirst()) }) else { continue }
            account.verdicts[number - 1] = (row.text(1) ?? "", row.text(2) ?? "")
            let last = (row.integer(3) ?? 0) - Simulation.firstEvening.milliseconds * 1_000
            account.took = began.duration(to: Moment(nanoseconds: last * 1_000))
        }
        account.faults = try await admin.rows(
            "look",
            """
            SELECT t.serial FROM night.touch t JOIN night.touch n ON n.serial = t.serial
              AND n.number > t.number AND n.epoch = t.epoch AND n.holder <> t.holder
            """
        ).count
        await admin.close()
        return account
    }

    private func strike(
        _ what: Incident,
        _ gateway: FleetNightGateway,
        _ admin: FleetDatabase
    ) async throws {
        switch what {
        case .drain: _ = try await admin.drain(gateway.name)
        case .kill:
            await gateway.host?.strike(.kill)
            try await gateway.dies(isPowerCut: false)
        }
    }

    private func work(
        _ gateway: FleetNightGateway,
        _ plan: FrozenPlan,
        _ simulated: SimulatedDepot,
        _ ground: FleetNightGround,
        hear: @escaping @Sendable (Event) -> Void
    ) async throws {
        let (simulation, journal, clock) = (simulated.simulation, gateway.journal, gateway.clock)
        let fleet = try ground.database(simulation, over: gateway.line)
        let (stop, host) = (StopSignal(), NightHost([], clock: clock) { _ in })
        gateway.begins(host, stop)
        defer { gateway.ends() }
        let builder = JobBuilder(plan)
        guard let rules = builder.rules else {
            throw NightDepot.Mistake(description: "no rules")
        }
        let opener = try FamilyRegistry.opener(of: .comodule, Secret(Array(Self.key.utf8)))
        var access: [VehicleID: VehicleAccess] = [:]
        for vehicle in plan.vehicles { access[vehicle.id] = VehicleAccess(module: opener) }
        var images: [String: [FirmwarePart]] = [:]
        for size in sizes { images["city-\(size)"] = Self.parts(size) }
        let jobs = builder.jobs(images: images, access: access)
        let entrance = FleetEntrance(fleet, journal, gateway: gateway.name)
        let (holder, _) = try await entrance.signIn(
            after: [],
            program: "yardmaster street",
            random: gateway.draw(),
            at: clock.wallTime,
            waiting: clock
        ) { gateway.starts = $0 }
        let (beginning, isNew) = try await entrance.enter(
            plan,
            as: holder,
            again: false,
            starts: RolloutStart(plan, isWhole: true, zone: .utc)
        )
        var part = try await entrance.enlist(plan, jobs, as: holder, beginning: beginning)
        part.adapters = ["hci0"]
        part.links = plan.radio.linksPerAdapter
        let (run, coordinator) = try await gateway.beginRun(
            of: plan,
            part,
            as: holder,
            in: fleet
        ) { _ in }
        let radio = radio(of: gateway, host, simulated)
        let chance = Mutex(SplitMix64(seed: seed ^ UInt64(gateway.number) << 32))
        var schedule = ScheduleBuilder(plan).schedule(of: jobs.map(\.vehicle), zone: .utc)
        schedule.again = isNew
        let events = EventStream(run: run, time: clock) { hear($0) }
        do {
            _ = try await RolloutRun(
                jobs,
                in: Depot(
                    rollout: plan.name,
                    run: run,
                    air: SoleAirtime(radio),
                    time: clock,
                    journal: journal,
                    events: events,
                    stop: stop,
                    rules: rules,
                    coordinator: coordinator,
                    step: { builder.step($1, for: $0) },
                    chance: { chance.withLock { $0.next() } }
                ),
                adapters: [radio],
                schedule: schedule
            ).run()
        } catch {
            // A process that was killed says nothing.
            guard try await gateway.isRaised() else { throw error }
            return
        }
        await entrance.signOff(holder)
        await fleet.close()
    }

    private func radio(
        of gateway: FleetNightGateway,
        _ host: NightHost,
        _ simulated: SimulatedDepot
    ) -> FleetStreetRadio {
        var numbers: [String: Int] = [:]
        for number in modules.indices {
            numbers[Serial(Self.serial(number))?.text ?? ""] = number
        }
        let radio = NightRadio(
            radio: simulated.radio("hci\(10 * gateway.number)"),
            host: host,
            place: NightPlace(
                air: simulated.simulation.air,
                numbers: numbers,
                losses: modules.map { module in
                    module.signals[gateway.number].map { -1 - $0 }
                }
            ) { _ in }
        )
        let time = simulated.simulation.time
        var gone: [Int: Moment] = [:]
        for leave in leaves where leave.gateway == gateway.number {
            gone[leave.vehicle] = time.now.advanced(by: .seconds(leave.second))
        }
        return FleetStreetRadio(
            radio: radio,
            isBroken: broken.contains(gateway.number),
            time: time,
            gone: gone
        )
    }
}

/// A gateway's adapter, as the street has it.
private struct FleetStreetRadio: Central {
    let radio: NightRadio
    let isBroken: Bool
    let time: VirtualTime
    /// When each vehicle is heard no more.
    let gone: [Int: Moment]

    var adapter: String { radio.adapter }

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await radio.withScan(filter) { scan throws(RadioError) in
            try await body(FleetStreetScan(scan: scan, radio: self))
        }
    }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        let link = try await radio.connect(to: peer, policy, before: deadline)
        guard isBroken else { return link }
        await link.disconnect()
        throw .linkLost
    }

    func forget(_ peer: Peer) async { await radio.forget(peer) }
}

private struct FleetStreetScan: Scan {
    let scan: any Scan
    let radio: FleetStreetRadio

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        while true {
            let heard = try await scan.next(before: deadline)
            guard let vehicle = await radio.radio.place?.vehicle(at: heard.peer),
                let end = radio.gone[vehicle], end <= radio.time.now
            else { return heard }
        }
    }
}

/// What is written down while gateways are at work.
private final class FleetStreetNotes: Sendable {
    private struct State {
        var account = FleetStreet.Account()
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    var account: FleetStreet.Account { state.withLock { $0.account } }
    var failure: (any Error)? { state.withLock { $0.failure } }
    func fails(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }
    func with(_ body: (inout FleetStreet.Account) -> Void) {
        state.withLock { body(&$0.account) }
    }
}

extension FleetStreet.Account {
    fileprivate mutating func note(_ event: Event, _ at: Duration, _ gateway: Int) {
        switch event.body {
        case .attemptStarted(let id, _, _, _):
            guard let number = Int(id.text.dropFirst()) else { return }
            begun.append((at, gateway, number - 1))
        case .retrying(let id, _, let message, _):
            ends.append("\(at.brief) g\(gateway + 1) \(id): \(message)")
        case .vehicleEnded(let id, let verdict):
            guard verdict.attempts > 0 else { return }
            ends.append("\(at.brief) g\(gateway + 1) \(id): \(verdict.message)")
        default: break
        }
    }

    /// How many vehicles each gateway has begun.
    package func count(of gateway: Int) -> Int {
        Set(begun.filter { $0.gateway == gateway }.map(\.vehicle)).count
    }
}
