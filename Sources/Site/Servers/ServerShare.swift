import Base
package import Store

/// The agreement of all gateways of a fleet about a server's actions, which each of them keeps in its own
/// journal.
///
/// The fleet's database says who speaks to the server, and which images may be sent.
package struct ServerShare: Sendable {
    private let fleet: FleetDatabase
    private let rollout: String

    package init(_ fleet: FleetDatabase, rollout: String) {
        (self.fleet, self.rollout) = (fleet, rollout)
    }

    private static func error(_ error: FleetError) -> JournalError {
        JournalError(.fleet, "sync", words: "\(error)")
    }

    /// The session that may speak to the server; nil while another gateway does.
    func session() async throws(JournalError) -> Int64? {
        do throws(FleetError) { return try await fleet.holdServer(of: rollout) } catch {
            throw Self.error(error)
        }
    }

    func hasWithdrawn(_ action: ServerAction) async throws(JournalError) -> Bool {
        guard let image = action.image else { return false }
        do throws(FleetError) {
            return try await fleet.withdrawn(in: rollout, from: action.serial).contains(image)
        } catch { throw Self.error(error) }
    }

    func allow(_ action: ServerAction) async throws(JournalError) {
        try await serve(action, true)
    }

    func forbid(_ action: ServerAction) async throws(JournalError) {
        try await serve(action, false)
    }

    private func serve(_ action: ServerAction, _ isOpen: Bool) async throws(JournalError) {
        guard let image = action.image else { return }
        do throws(FleetError) {
            try await fleet.serve(
                image,
                to: action.serial,
                in: rollout,
                isOpen,
                "the server \(action.server) has withdrawn its action \(action.action)"
            )
        } catch { throw Self.error(error) }
    }

    /// Forbids transfers to a module on all gateways; false when one has begun.
    func withdraw(
        _ image: SHA256Digest?,
        from serial: Serial
    ) async throws(JournalError) -> Bool {
        do throws(FleetError) {
            return try await fleet.withdraw(
                image,
                from: serial,
                in: rollout,
                "the server has withdrawn its action"
            )
        } catch { throw Self.error(error) }
    }

    /// Adds what other gateways know of an action's vehicle.
    func add(to work: inout ServerWork, of action: ServerAction) async throws(JournalError) {
        do throws(FleetError) {
            let open = try await fleet.openWork(of: action.vehicle, on: action.serial)
            work.debt = work.debt ?? open.debt
            work.failures = max(work.failures, open.failures)
        } catch { throw Self.error(error) }
    }
}
