import Base
import Commands
import Operations
import Store

/// Says which gateway of a fleet works on a module, for commands that take no right themselves.
struct FleetNeighbours: Sendable {
    private let fleet: FleetDatabase
    private let thread: ThreadExecutor
    /// As it was when the command began.
    private let known: [Serial: String]
    /// Whether only `known` is used: simulated time does not wait for an answer.
    private let isSimulated: Bool

    /// Asks before any radio work; without an answer it throws, which ends the command.
    init(_ access: FleetAccess, isSimulated: Bool) async throws(CommandError) {
        known = try await access.withTables { fleet throws(FleetError) in
            try await fleet.holders()
        }
        thread = try ThreadExecutor.working("fleet")
        fleet = access.database(on: thread)
        self.isSimulated = isSimulated
    }

    /// Why the module must be left alone now; nil when nobody has the right to it.
    func objection(to serial: Serial) async -> String? {
        let holder: String?
        if isSimulated {
            holder = known[serial]
        } else {
            do throws(FleetError) { holder = try await fleet.holders()[serial] } catch {
                return "nobody knows whether a gateway works on it: \(error)"
            }
        }
        return holder.map { "\($0) has the right to touch this module" }
    }

    func close() async {
        await fleet.close()
        thread.stop()
    }
}
