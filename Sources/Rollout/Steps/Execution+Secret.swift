import Base
import Families
import Radio
import Store

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

    /// Gives the module wrong answers, before a verdict that nothing but its own words supports.
    func unmask() async throws(Halt) {
        guard case .steps = aim, hasLooked, provenUpdates == 0, let challenge = job.challenge else {
            return
        }
        let (isStopped, chance, time) = (isStopped, depot.chance, time)
        var interrogation = Interrogation(
            wrongAnswers: challenge.profile.wrongAnswers.verdict
        )
        do throws(ModuleError) {
            try await link.interrogate(
                &interrogation,
                chance: chance,
                reach: { () async throws(ModuleError) in
                    try await link.reach(
                        driver.recogniser,
                        before: time.now.advanced(by: depot.rules.seekTimeout),
                        unless: isStopped
                    )
                },
                right: { (_) async throws(ModuleError) in
                    try await link.openApplication(by: driver)
                },
                wrong: { (link) async throws(ModuleError) in
                    try await challenge.secrets.answersWrongly(
                        on: link,
                        challenge.profile,
                        time,
                        chance: chance
                    )
                }
            )
        } catch {
            if error == .radio(.timedOut), isStopped() { throw .stopped }
            // What it said is not known of the module.
            if error.isAboutAuthentication {
                (record.versionBefore, record.versionAfter, seen) = (nil, nil, [])
            }
            throw Halt(error, "while checking that it is the module")
        }
    }

    /// Changes the secret; each link of the change proves one secret, and the last link the new
    /// one.
    func change(_ secret: ModuleSecretChange, isNew: Bool) async throws(Halt) {
        await hangUp()
        let module = ModuleInHand(
            vehicle: vehicle,
            serial: job.serial,
            profile: secret.profile,
            bond: job.bond,
            central: depot.central,
            time: time,
            search: depot.rules.seekTimeout,
            chance: depot.chance,
            isStopped: isStopped
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
