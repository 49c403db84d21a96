import Base
import Show
import Store
import Testing

/// A depot in the morning: its facts are in a journal, as a run writes them.
struct MorningDepot {
    /// How the night left one vehicle.
    struct Bus {
        var outcome: Outcome? = .succeeded
        var failure: FailureClass?
        var message = "runs 4.12.0, read twice after its restart"
        /// In dBm; nil for a vehicle that was not heard.
        var signal: Int? = -60
        /// The percentage of an image that its module has and that is not proven.
        var owes: Int?
        var inBootloader = false
        /// How many minutes ago it ended.
        var ended = 120
        /// A command of which nobody knows whether it was carried out.
        var doubt: String?

        static let done = Bus()
        static let notBegun = Bus(outcome: nil, message: "", signal: nil)
    }

    let name: String
    let buses: [Bus]
    /// Nil while the run is at work.
    var end: (exitCode: Int, reason: String)?
    var hold: Hold?
    var window: String?
    /// The gateways of the fleet; empty for a machine on its own.
    var gateways: [String] = []

    static let rollout = "city-4.12"
    /// 2026-11-22T00:00:00Z.
    static let now = WallTime(milliseconds: 1_795_305_600_000)
    static func before(_ hours: Int) -> WallTime { now.advanced(by: .seconds(-3_600 * hours)) }

    static func words(_ time: WallTime) -> String {
        "\(time.description.prefix(16))".replacing("T", with: " ")
    }

    /// The process that is at work.
    var holder: LockHolder? {
        guard end == nil else { return nil }
        return LockHolder(pid: 7, started: Self.before(6), rollout: Self.rollout)
    }

    /// The page and the status from the same journal.
    func facts() async throws -> (page: MorningPage, status: RolloutStatus) {
        let thread = try ThreadExecutor.start(name: "morning")
        defer { thread.stop() }
        let journal = try await Journal.inMemory(executor: thread)
        try await write(to: journal)
        let holder = holder
        let (ground, snapshot) = try await journal.look { view throws(JournalError) in
            (
                try MorningMaker.Ground(
                    in: view,
                    since: Self.before(12),
                    holder: holder,
                    at: Self.now
                ),
                try RolloutSnapshot(of: nil, in: view, holder: holder, at: Self.now)
            )
        }
        await journal.close()
        let plan = try plan
        let flags = PlaceFlags()
        let manifest = "city.yaml"
        let maker = MorningMaker(
            ground,
            plans: [Self.rollout: MorningMaker.Plan(plan, manifest: manifest)],
            since: Self.before(12),
            at: Self.now,
            staleDays: 7,
            flags: flags
        )
        var status = RolloutStatus(
            snapshot,
            briefs: [],
            plan: plan,
            manifest: manifest,
            isRunning: holder != nil,
            flags: flags
        )
        if let times = plan.openTimes(in: .utc) {
            status.openings = times.next(3, after: Self.now)
            status.window = times.state(at: Self.now)
        }
        var page = maker.page
        if !gateways.isEmpty {
            page = fleet(page)
            status.source = page.source
        }
        return (page, status)
    }

    /// The page as a fleet gives it: a line for the gateways, and the source.
    private func fleet(_ page: MorningPage) -> MorningPage {
        var fleet = MorningPage(
            since: Self.before(12),
            made: Self.now,
            nights: page.nights.map { night in
                var night = night
                night.gateway = gateways.first
                return night
            },
            tasks: page.tasks,
            changes: MorningPage.Changes(),
            stale: [],
            staleDays: 7
        )
        fleet.headline = page.headline
        fleet.source = StandingSource(.fleet, "postgresql://fleet.example/yard")
        return fleet
    }

    private func id(_ index: Int) throws -> VehicleID {
        try #require(VehicleID("bus-\(index + 1)"))
    }

    private func serial(_ index: Int) throws -> Serial {
        let number = String(index + 1, radix: 16)
        return try #require(
            Serial("00a0" + String(repeating: "0", count: 12 - number.count) + number)
        )
    }

    private var plan: PlanView {
        get throws {
            let rows = try buses.indices.map { index in
                JSONValue.array(
                    [
                        .string(try id(index).text), .string(try serial(index).text), "comodule",
                        "city", .int(0), "plate", .string("\(101 + index) DMO"), "bay",
                        .string("\(index + 1)"),
                    ]
                )
            }
            let text = JSONValue.object([
                "form": "yardmaster-view-1",
                "open": window.map { .array([.string($0)]) },
                "manifest": "city.yaml",
                "vehicles": .array(rows),
            ]).text
            return try #require(PlanView(text: text))
        }
    }

    private func write(to journal: Journal) async throws {
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let run = try await journal.beginRun(
            rollout: Self.rollout,
            plan: digest,
            at: Self.before(6)
        )
        let records = try await journal.begin(
            Beginning(
                RolloutRecord(name: Self.rollout, plan: digest, run: run, at: Self.before(6)),
                fresh: try buses.indices.map { index in
                    ExecutionRecord(
                        rollout: Self.rollout,
                        vehicle: try id(index),
                        serial: try serial(index),
                        plan: digest,
                        run: run,
                        started: Self.before(6)
                    )
                }
            )
        )
        for (index, (record, bus)) in zip(records, buses).enumerated() {
            if let signal = bus.signal {
                try await journal.append([
                    EventRecord(
                        run: run,
                        number: index + 1,
                        time: Self.before(4),
                        kind: "state-changed",
                        vehicle: record.vehicle,
                        json: #"{"state":"connecting","detail":"\#(signal) dBm"}"#
                    )
                ])
            }
            try await write(record, bus, digest, to: journal)
        }
        if !buses.contains(where: { $0.outcome == nil }) {
            var rollout = try #require(try await journal.rollout(Self.rollout))
            rollout.state = .finished
            try await journal.save(rollout)
        }
        if let hold { try await journal.set(hold, isAtWork: false) }
        guard let end else { return }
        try await journal.endRun(
            run,
            exitCode: end.exitCode,
            reason: end.reason,
            at: Self.before(1)
        )
    }

    private func write(
        _ record: ExecutionRecord,
        _ bus: Bus,
        _ digest: SHA256Digest,
        to journal: Journal
    ) async throws {
        func intent(_ effect: Effect, _ action: String) -> Intent {
            Intent(
                of: record,
                step: StepKey(digest),
                place: 1,
                effect: effect,
                description: action,
                begun: Self.before(3)
            )
        }
        var debt: Debt?
        if let owes = bus.owes {
            var owed = Debt(
                serial: record.serial,
                image: digest,
                name: "city",
                version: FirmwareVersion(4, 12),
                target: "",
                total: 100,
                stage: "transferring",
                of: record,
                begun: Self.before(3)
            )
            owed.acknowledged = owes
            owed.inBootloader = bus.inBootloader
            let transfer = try await journal.intend(
                intent(.transfer, "update: city"),
                opening: owed
            )
            try await journal.settle(transfer, outcome: "failed", at: Self.before(2))
            debt = owed
        }
        if let doubt = bus.doubt { _ = try await journal.intend(intent(.once, doubt)) }
        guard let outcome = bus.outcome else { return }
        var record = record
        let closing = Closing(outcome, bus.failure, bus.message).owing(debt)
        record.state = .ended
        record.acted = debt != nil
        record.linked = bus.signal != nil
        let ended = Self.now.advanced(by: .seconds(-60 * bus.ended))
        record.updated = ended
        record.versionAfter = outcome == .succeeded ? FirmwareVersion(4, 12) : nil
        record.end = ExecutionRecord.End(
            closing.outcome,
            failure: closing.failure,
            message: closing.message,
            at: ended
        )
        try await journal.record(record, durably: false)
    }
}
