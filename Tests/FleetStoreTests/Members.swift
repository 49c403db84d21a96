import Base
import Operations
import PrivatePostgres
import Rollout
import Store
import Testing
import Workbench

/// Several gateways of one fleet, each with a journal of its own, at work on one rollout.
struct Members {
    struct Member {
        let name: String
        let rights: FleetCoordinator
        let journal: Journal
        let fleet: FleetDatabase
        let holder: FleetHolder
        let run: Int

        /// Leaves a vehicle to the others, with its own verdict; nil when it did not hear the vehicle.
        func leave(
            _ vehicle: VehicleID,
            _ outcome: Outcome? = nil,
            _ failure: FailureClass? = nil,
            _ sentence: String = ""
        ) async throws {
            try await fleet.leave(
                [LeftVehicle(vehicle, outcome, failure, sentence)],
                in: "city",
                beginning: 1,
                as: holder
            )
        }

        /// One look at the rollout, as a gateway that waits does it.
        func glance(asking vehicles: [VehicleID] = []) async throws -> FleetGlance {
            try #require(
                try await fleet.glance(at: "city", asking: vehicles, counts: true, for: holder)
            )
        }

        /// What has changed since `changes`.
        func news(since changes: Int = 0) async throws -> FleetNews {
            try await fleet.news(of: try await glance(), since: changes, for: holder)
        }

        /// The execution of a vehicle, recorded as a run would.
        func execution(_ vehicle: VehicleID, _ serial: Serial) async throws -> ExecutionRecord {
            if let known = try await journal.execution(rollout: "city", vehicle: vehicle) {
                return known
            }
            let record = ExecutionRecord(
                rollout: "city",
                vehicle: vehicle,
                serial: serial,
                run: run,
                started: WallTime(milliseconds: 0)
            )
            return try #require(
                try await journal.begin(Beginning(nil, fresh: [record])).first
            )
        }
    }

    let all: [Member]
    let ground: Ground
    let clock: StoodClock

    subscript(_ index: Int) -> Member { all[index] }

    /// Rights that their holders never gave back are free from now on.
    func forget() throws {
        try ground.ask(
            "UPDATE yardmaster.module SET expires = expires - interval '1 h' WHERE holder IS NOT NULL"
        )
    }

    static func with(
        _ names: [String],
        quarantineAfter: Int? = nil,
        plan vehicles: FleetPlan? = nil,
        wave: Int? = nil,
        isTimed: Bool = false,
        _ body: (Members) async throws -> Void
    ) async throws {
        let server = try Store.server.get()
        let ground = Ground()
        ground.server = server
        ground.database = try server.database()
        let clock = StoodClock()
        let files = try ThreadExecutor.start(name: "files")
        defer { files.stop() }
        let lane = try ThreadExecutor.start(name: "fleet")
        defer { lane.stop() }
        let plan = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        var members: [Member] = []
        let machine: FleetCoordinator.MachineTime? =
            isTimed ? { @Sendable in (StoodClock.real, clock.wallTime) } : nil
        var scratches: [Scratch] = []
        for (index, name) in names.enumerated() {
            let scratch = try Scratch()
            scratches.append(scratch)
            let journal = try await Journal.open(directory: scratch.path, executor: files)
            let settings = FleetSettings(
                try FleetAddress(server.address(ground.database)),
                name: "test",
                connectTime: .seconds(60),
                statementTime: .seconds(60)
            )
            let fleet = FleetDatabase(settings, on: lane) { (settings, host) throws(FleetError) in
                CountedSession(
                    session: try PostgresSession.open(settings, at: host) { StoodClock.real },
                    ground: ground
                )
            }
            if index == 0 { _ = try await fleet.upgrade(from: .absent, by: "test") }
            let holder = FleetHolder(
                gateway: name,
                random: (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            )
            _ = try await fleet.signIn(holder, program: "test", at: WallTime(milliseconds: 0))
            let (beginning, _) = try await fleet.enter(
                "city",
                plan: plan,
                begins: false,
                seen: 0,
                as: holder
            )
            if let vehicles {
                _ = try await fleet.enlist(vehicles, in: "city", beginning: beginning, as: holder)
            }
            // Each journal counts its own runs.
            var run = 0
            for _ in 0...index {
                run = try await journal.beginRun(
                    rollout: "city",
                    plan: plan,
                    at: WallTime(milliseconds: 0)
                )
            }
            var part = FleetPart(beginning: beginning)
            part.quarantineAfter = quarantineAfter
            part.wave = wave
            for vehicle in ["bus", "tram"].compactMap({ VehicleID($0) }) {
                part.releases[vehicle] = plan
            }
            members.append(
                Member(
                    name: name,
                    rights: FleetCoordinator(
                        local: LocalCoordinator(journal: journal, rollout: "city", run: run),
                        journal: journal,
                        fleet: fleet,
                        holder: holder,
                        rollout: "city",
                        run: run,
                        part: part,
                        time: clock,
                        machine: machine
                    ) { ground.said($0) },
                    journal: journal,
                    fleet: fleet,
                    holder: holder,
                    run: run
                )
            )
        }
        let them = Members(all: members, ground: ground, clock: clock)
        // All on the database's thread: no time passes while it is asked.
        let result: Result<Void, any Error> = await withTaskExecutorPreference(lane) {
            do { return .success(try await body(them)) } catch { return .failure(error) }
        }
        for member in members {
            await member.fleet.close()
            await member.journal.close()
        }
        withExtendedLifetime(scratches) {}
        try result.get()
    }
}
