import Base
import Radio
import Store

/// One attempt: reach the module, look at it, do the steps that are left.
extension Execution {
    func attempt() async throws(Halt) {
        if depot.stop.isRequested { throw .stopped }
        var halt = await steps()
        // The module may already have the new secret of a change that an earlier run began.
        if halt != nil, isRefused || isSuspected, try await takesUpSecret() {
            halt = await steps()
        }
        if let halt { throw halt }
        try await unmask()
    }

    private func steps() async -> Halt? {
        var halt: Halt?
        do throws(Halt) { try await doSteps() } catch { halt = error }
        await hangUp()
        return halt
    }

    private func doSteps() async throws(Halt) {
        if let debt { try await pay(debt) }
        try await doOwed()
        guard case .steps = aim else { return }
        // The search for a module with an update comes first: it may wait in its bootloader.
        let sighting = job.hasUpdates && link.application == nil ? try await search() : nil
        if let sighting, sighting.role == .bootloader {
            // No record explains why: the module is brought back first, and then the steps are
            // done.
            try await leaveBootloader(sighting)
        } else if let sighting {
            record.inBootloader = false
            // The first step that needs a link opens it: a precondition may end the execution
            // before.
            heard = sighting
        }
        for (index, step) in job.steps.enumerated() {
            try await yield()
            try await perform(step, index)
        }
        // A job without an update also reports what its module runs, if a link was opened.
        if !hasLooked, link.application != nil, driver.tellsVersions {
            try await look(at: UpdateOrder(serial: job.serial, parts: []))
        }
    }

    private func perform(_ step: JobStep, _ index: Int) async throws(Halt) {
        guard case .update(let update) = step else { return try await act(step, index) }
        try await perform(update, step: index)
    }

    func leaveBootloader(_ sighting: ModuleSighting) async throws(Halt) {
        for (index, step) in job.steps.enumerated() {
            guard case .update(let update) = step else { continue }
            return try await perform(update, step: index, from: sighting)
        }
        record.inBootloader = true
        throw .verdict(
            .failed,
            .device,
            "waits in its bootloader, and this rollout has no update to finish; run the rollout "
                + "that began it"
        )
    }

    /// Reads the module's hardware and versions, and reports them as an event.
    private func look(at order: UpdateOrder) async throws(Halt) {
        try await enter(.inspecting)
        let application = try await present()
        do throws(ModuleError) {
            inspected(try await application.inspect(order), of: order.target)
        } catch { throw Halt(error, "while reading its versions") }
    }
}
