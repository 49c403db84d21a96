import Base
import Glibc
import PrivatePostgres
import Store

/// The server of these tests, started by the first one that needs it; it ends with the process.
enum Cluster {
    private static let shared = Result { try PrivatePostgres() }

    static var server: PrivatePostgres { get throws { try shared.get() } }

    /// Settings with long timeouts, because a busy machine makes calls slow that would otherwise be
    /// fast.
    static func settings(_ address: String, password: String? = nil) throws -> FleetSettings {
        FleetSettings(
            try FleetAddress(address),
            password: password.map { Secret(Array($0.utf8)) },
            name: "yardmaster/test",
            connectTime: .seconds(60),
            statementTime: .seconds(60)
        )
    }

    static let now: @Sendable () -> Moment = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Calls `body` with a connection on its own thread.
    static func with<R: Sendable>(
        _ settings: FleetSettings,
        _ body: (FleetDatabase) async throws -> R
    ) async throws -> R {
        let executor = try ThreadExecutor.start(name: "fleet")
        let fleet = FleetDatabase(settings, on: executor, now: now)
        let result: Result<R, any Error>
        do { result = .success(try await body(fleet)) } catch { result = .failure(error) }
        await fleet.close()
        executor.stop()
        return try result.get()
    }

    /// Calls `body` with a database that has its tables, and with the database's name for psql.
    static func withFleet<R: Sendable>(
        _ body: (FleetDatabase, PrivatePostgres, String) async throws -> R
    ) async throws -> R {
        let server = try Self.server
        let database = try server.database()
        return try await with(try settings(server.address(database))) { fleet in
            _ = try await fleet.upgrade(from: .absent, by: "test")
            return try await body(fleet, server, database)
        }
    }
}

extension FleetHolder {
    /// A start of the program that no other test uses.
    static func random(_ name: String) -> FleetHolder {
        FleetHolder(
            gateway: name,
            random: (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        )
    }
}
