import Domain
import Radio

/// Changes of the module's secret, over links of their own.
extension Execution {
    /// Completes a change of the secret that was interrupted; false when there is none.
    func takesUpSecret() async throws(Halt) -> Bool {
        guard let secret = job.secret, await secret.keeper.hasOpenChange(depot.journal) else {
            return false
        }
        try await change(secret, isNew: false)
        return true
    }

    /// Changes the secret; each link of the change proves one secret, and the last link the new
    /// one.
    func change(_ secret: ModuleSecretChange, isNew: Bool) async throws(Halt) {
        await hangUp()
        let stop = depot.stop
        let module = ModuleInHand(
            vehicle: vehicle,
            serial: job.serial,
            profile: secret.profile,
            bond: job.bond,
            central: depot.central,
            time: time,
            search: depot.rules.seekTimeout,
            chance: depot.chance,
            isStopped: { stop.isRequested }
        )
        do throws(SecretChangeFault) {
            opens(
                by: try await secret.keeper.change(module, isNew: isNew, depot.journal),
                of: secret.profile
            )
        } catch {
            if depot.stop.isRequested { throw .stopped }
            guard let failure = error.failure else { throw .elsewhere(error.sentence) }
            throw .failure(failure, error.sentence)
        }
    }
}
