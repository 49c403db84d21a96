import Base
import PrivatePostgres
import Store
import Testing

/// What is read for those who look, where a gateway's word came late or is over.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct ViewTests {
    private let north = FleetHolder.random("north")
    private func bus() throws -> VehicleID { try #require(VehicleID("bus")) }
    private func serial() throws -> Serial { try #require(Serial("a1")) }

    private func view(_ fleet: FleetDatabase) async throws -> FleetView {
        try await fleet.atOneMoment { fleet throws(FleetError) in
            guard let city = try fleet.rollout("city") else {
                throw FleetError(.refused, "look", "it is not there")
            }
            return try fleet.view(of: city)
        }
    }

    @Test func `a verdict stands while its vehicle is looked at once more, until a step is begun`()
        async throws
    {
        let plan = FleetPlan([.init(try bus(), try serial(), wave: 0)], waves: 1)
        let (north, bus, serial) = (north, try bus(), try serial())
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        try await Cluster.withFleet { fleet, _, _ in
            _ = try await fleet.signIn(north, program: "p", at: WallTime(milliseconds: 0))
            func enlist() async throws {
                let (beginning, _) = try await fleet.enter(
                    "city",
                    plan: digest,
                    begins: false,
                    seen: 0,
                    as: north
                )
                _ = try await fleet.enlist(plan, in: "city", beginning: beginning, as: north)
            }
            func claim() async throws -> FleetLease {
                let wish = LeaseWish(
                    serial,
                    rollout: "city",
                    vehicle: bus,
                    entry: LeaseWish.Entry(beginning: 1, isPaying: false)
                )
                let answer = try await fleet.claim(wish, by: north, terms: .standard)
                guard case .granted(let lease, _) = answer else {
                    throw FleetError(.refused, "claim", "\(answer)")
                }
                return lease
            }
            try await enlist()
            var verdict = FleetWord(
                .verdict,
                under: try await claim(),
                of: north,
                rollout: "city",
                beginning: 1,
                vehicle: bus,
                run: 4
            )
            verdict.outcome = Outcome.deferred.rawValue
            (verdict.sentence, verdict.version) = ("later", "1.0")
            try await fleet.accept(verdict)
            try await enlist()
            let again = try await view(fleet).vehicles.first
            #expect(again?.state == .queued && again?.end?.outcome == .deferred)
            #expect(again?.run == 4 && again?.isBegun == true)
            let lease = try await claim()
            let held = try await view(fleet).vehicles.first
            #expect(held?.state == .claimed && held?.end?.outcome == .deferred)
            #expect(held?.holder?.gateway == "north" && held?.holder?.since != nil)
            let permit = try await fleet.intend(
                FleetAct(
                    Act(
                        Intent(
                            execution: 0,
                            run: 4,
                            rollout: "city",
                            vehicle: bus,
                            step: StepKey(nil),
                            place: 0,
                            effect: .converge,
                            description: "set",
                            begun: WallTime(milliseconds: 0)
                        )
                    ),
                    under: lease,
                    beginning: 1,
                    isPaying: false
                ),
                of: north
            )
            #expect(permit == .granted)
            #expect(try await view(fleet).vehicles.first?.end == nil)
        }
    }

    @Test func `how far an update is comes from the gateway that had the right last`() async throws
    {
        let serial = try serial()
        try await Cluster.withFleet { fleet, server, database in
            try server.query(
                database,
                """
                INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began)
                VALUES (gen_random_uuid(), 'north', 3, 'city', 1, 'p', false, now());
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target, total)
                VALUES ('a1', 'bus', 'city', 3, 'north', 'i', 'n', 't', 100)
                """
            )
            func report(_ epoch: Int, _ bytes: Int, _ gateway: String, run: Int) async throws
                -> Debt?
            {
                var progress = FleetProgress(FleetLease(serial: serial, epoch: epoch), run: run)
                progress.image = "i"
                progress.acknowledged = bytes
                progress.isInBootloader = true
                try await fleet.report([progress], of: FleetHolder.random(gateway))
                return try await fleet.atOneMoment { fleet throws(FleetError) in
                    try fleet.ground().debts.first
                }
            }
            let early = try await report(2, 10, "west", run: 9)
            #expect(early?.acknowledged == 0 && early?.inBootloader == false)
            // The run that began it is the last one of its gateway.
            #expect(
                early?.gateway == "north" && early?.run == 3 && early?.seenName == early?.runName
            )
            let own = try await report(3, 20, "north", run: 3)
            #expect(own?.acknowledged == 20 && own?.inBootloader == true && own?.seenRun == 3)
            #expect(try await report(5, 60, "south", run: 7)?.seenGateway == "south")
            let late = try await report(4, 30, "north", run: 4)
            #expect(late?.acknowledged == 60 && late?.seenGateway == "south" && late?.seenRun == 7)
            // Another image begins from nothing.
            try server.query(database, "UPDATE yardmaster.debt SET image = 'j', epoch = 6")
            let fresh = try await report(5, 70, "south", run: 7)
            #expect(fresh?.acknowledged == 0 && fresh?.inBootloader == false)
        }
    }
}
