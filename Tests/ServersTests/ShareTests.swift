import Base
import Manifest
import PrivatePostgres
import Servers
import Site
import Store
import Testing
import Workbench

/// Two gateways of a fleet that act for the same vehicles at one server.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct ShareTests {
    private static let postgres = Result { try PrivatePostgres() }
    private static let action = FakeServer.Action(id: "5", controller: "bike-tag-1")
    private static let version = FirmwareVersion(2, 0)
    private static let rollout = "tallinn-servers"

    /// Two gateways, and the sessions that each has with the fleet's database.
    private struct Pair {
        let north: ServedYard
        let south: ServedYard
        let fleets: [FleetDatabase]
        let ask: (String) throws -> String
        var server: FakeServer { north.server }

        /// A transfer that the other gateway has begun, or has settled.
        func owe(_ isOpen: Bool = true) throws {
            _ = try ask(
                isOpen
                    ? """
                    INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                      target, total)
                    VALUES ('tag-1', 'EE-1', '\(rollout)', 1, 'north', '\(SHA256.digest(of: north.image))',
                      'tracker', 'secondary', 9)
                    """
                    : "DELETE FROM yardmaster.debt"
            )
        }

        /// The same verdict in both journals, as runs of one rollout leave it.
        func run(_ outcome: Outcome, on vehicle: Int = 0) async throws {
            for yard in [north, south] {
                try await yard.run(
                    outcome,
                    outcome == .rolledBack ? .rolledBack : nil,
                    on: vehicle,
                    version: version
                )
            }
        }
    }

    private func withPair(_ body: (Pair) async throws -> Void) async throws {
        let postgres = try Self.postgres.get()
        let database = try postgres.database()
        var threads: [ThreadExecutor] = []
        var fleets: [FleetDatabase] = []
        defer { for thread in threads { thread.stop() } }
        for name in ["north", "south"] {
            let thread = try ThreadExecutor.start(name: name)
            threads.append(thread)
            let settings = FleetSettings(
                try FleetAddress(postgres.address(database)),
                name: name,
                connectTime: .seconds(60),
                statementTime: .seconds(60)
            )
            fleets.append(FleetDatabase(settings, on: thread) { Moment(nanoseconds: 0) })
        }
        _ = try await fleets[0].upgrade(from: .absent, by: "test")
        let shares = fleets.map { ServerShare($0, rollout: Self.rollout) }
        let north = try await ServedYard(sharing: shares[0])
        let south = try await ServedYard(at: north.server, sharing: shares[1])
        let pair = Pair(north: north, south: south, fleets: fleets) {
            try postgres.query(database, $0)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(pair)) } catch { result = .failure(error) }
        for yard in [north, south] { await yard.end() }
        for fleet in fleets { await fleet.close() }
        try result.get()
    }

    /// One after the other, as the lock between them demands.
    ///
    /// A session that was closed holds it until the server has seen the end.
    private func sync(_ yard: ServedYard, _ pair: Pair) async throws -> [Serial] {
        let locks = """
            SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND d.datname = current_database()
            """
        try wait(for: "the end of the other session") { try pair.ask(locks) == "0\n" }
        let sync = try await yard.sync()
        for fleet in pair.fleets { await fleet.close() }
        return sync.work.map(\.action.serial)
    }

    @Test func `two gateways have the same work, and each action is closed once`() async throws {
        try await withPair { pair in
            pair.server.assign(.init(id: "6", controller: "bike-tag-2"))
            _ = try await sync(pair.north, pair)
            pair.server.assign(Self.action)
            let north = try await sync(pair.north, pair)
            let south = try await sync(pair.south, pair)
            #expect(north == south && north == pair.north.plan.vehicles.map(\.serial))
            // Each gateway has the image in its own store.
            #expect(pair.server.with { $0.fetches.count } == 2)
            for vehicle in 0..<2 { try await pair.run(.succeeded, on: vehicle) }
            for yard in [pair.south, pair.north, pair.south] { _ = try await sync(yard, pair) }
            for id in ["5", "6"] {
                #expect(pair.server.action(id)?.closings == 1)
                #expect(pair.server.action(id)?.status == .finished)
            }
            for yard in [pair.north, pair.south] {
                #expect(try await yard.journal.serverActions(server: "office").isEmpty)
            }
        }
    }

    @Test func `each action of two gateways is closed once over kills at any write`() async throws {
        for transactions in 0..<6 {
            try await withPair { pair in
                pair.server.assign(Self.action)
                for yard in [pair.north, pair.south] { _ = try await sync(yard, pair) }
                try await pair.run(.rolledBack)
                try await pair.north.journal.cut(after: transactions)
                do { _ = try await pair.north.sync() } catch is JournalError {}
                try await pair.north.journal.cut(after: nil)
                for fleet in pair.fleets { await fleet.close() }
                for yard in [pair.south, pair.north, pair.south] { _ = try await sync(yard, pair) }
                #expect(pair.server.action("5")?.closings == 1, "\(transactions)")
                #expect(pair.server.action("5")?.status == .error)
            }
        }
    }

    @Test func `a cancel that one gateway accepts holds for the other`() async throws {
        try await withPair { pair in
            pair.server.assign(Self.action)
            for yard in [pair.north, pair.south] { _ = try await sync(yard, pair) }
            pair.server.change("5") { $0.status = .canceling }
            _ = try await sync(pair.north, pair)
            #expect(pair.server.action("5")?.status == .canceled)
            let serial = pair.north.plan.vehicles[0].serial
            let forbidden = try await pair.fleets[1].withdrawn(in: Self.rollout, from: serial)
            #expect(forbidden == [SHA256.digest(of: pair.north.image)])
            #expect(try await sync(pair.south, pair).isEmpty)
            // The same image may be assigned again.
            pair.server.assign(.init(id: "7", controller: "bike-tag-1"))
            #expect(try await sync(pair.south, pair).count == 1)
            #expect(try await pair.fleets[0].withdrawn(in: Self.rollout, from: serial).isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `a cancel is refused while another gateway's transfer is open`(isTaken: Bool) async throws
    {
        try await withPair { pair in
            pair.server.assign(Self.action)
            _ = try await sync(pair.north, pair)
            if isTaken { _ = try await sync(pair.south, pair) }
            try pair.owe()
            pair.server.change("5") { $0.status = .canceling }
            _ = try await sync(pair.south, pair)
            #expect(pair.server.action("5")?.status == .running)
            #expect(pair.server.action("5")?.words.contains("cancel rejected none") == true)
        }
    }

    @Test func `a failure for good waits for what another gateway owes`() async throws {
        try await withPair { pair in
            pair.server.assign(Self.action)
            for yard in [pair.north, pair.south] { _ = try await sync(yard, pair) }
            try await pair.run(.rolledBack)
            try pair.owe()
            _ = try await sync(pair.south, pair)
            #expect(pair.server.action("5")?.status == .running)
            try pair.owe(false)
            _ = try await sync(pair.south, pair)
            #expect(pair.server.action("5")?.status == .error)
        }
    }

    @Test func `one gateway speaks to the server at a time`() async throws {
        try await withPair { pair in
            pair.server.assign(Self.action)
            let session = try await pair.fleets[1].holdServer(of: Self.rollout)
            #expect(session != nil)
            #expect(try await pair.fleets[1].holdServer(of: Self.rollout) == session)
            let rows = try await pair.north.sync().rows
            #expect(rows.allSatisfy { !$0.isFinished })
            #expect(pair.server.with { $0.requests.isEmpty })
            // It ends with the session, whatever has ended that, once the database has seen it.
            await pair.fleets[1].close()
            #expect(try await sync(pair.north, pair).count == 1)
        }
    }

    @Test func `an action that is assigned again under its id is a new one for all`() async throws {
        try await withPair { pair in
            pair.server.assign(Self.action)
            for yard in [pair.north, pair.south] { _ = try await sync(yard, pair) }
            try await pair.run(.succeeded)
            _ = try await sync(pair.north, pair)
            #expect(pair.server.action("5")?.closings == 1)
            pair.server.change("5") { $0.status = .running }
            // The run that has proven the first one proves nothing of the second one.
            #expect(try await sync(pair.south, pair).count == 1)
            #expect(pair.server.action("5")?.closings == 1)
            #expect(pair.server.action("5")?.status == .running)
        }
    }
}
