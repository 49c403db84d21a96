import Domain
import Journal
import Modules
import Radio
import Reports
import Sessions
import Wire

/// One attempt: reach the module, look at it, do the steps that are left.
extension Execution {
    func attempt() async throws(Halt) {
        if depot.stop.isRequested { throw .stopped }
        var halt = await steps()
        // It may have the secret that an earlier run was giving it.
        if isRefused, try await takesUpSecret() { halt = await steps() }
        if let halt { throw halt }
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
        // A module that is to be updated is looked for first: it may wait in its bootloader.
        let sighting = job.hasUpdates && application == nil ? try await search() : nil
        if let sighting, sighting.role == .bootloader {
            // Nobody knows of it: it is brought out of there first, and then the steps are done.
            try await leaveBootloader(sighting)
        } else if let sighting {
            record.inBootloader = false
            // Opened by the first step that needs it: what is required may stand against it.
            heard = sighting
        }
        for (index, step) in job.steps.enumerated() {
            try await yield()
            try await perform(step, index)
        }
        // A job without an update still says what its module runs, when it was spoken to.
        if !hasLooked, application != nil, driver.tellsVersions {
            _ = try await look(at: UpdateOrder(serial: job.serial, parts: []))
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

    // MARK: Reaching the module

    /// Searches as often as the rules allow before the module counts as unreachable.
    func search() async throws(Halt) -> ModuleSighting {
        let rules = depot.rules
        for _ in 0..<rules.seekAttempts {
            try await enter(.seeking, deadline: ("search", rules.seekTimeout))
            let deadline = time.now.advanced(by: rules.seekTimeout)
            if let sighting = try await seek(before: deadline) { return sighting }
            // Who is out of reach does not hold the line.
            try await giveWay(.search)
        }
        let total = rules.seekTimeout * rules.seekAttempts
        throw .failure(
            .unreachable,
            "not heard within \(total.brief); is it in the depot, charged, and not connected "
                + "to a phone?"
        )
    }

    /// Connects and authenticates.
    private func open(_ sighting: ModuleSighting) async throws(Halt) {
        try await enter(
            .connecting,
            detail: "\(sighting.signal) dBm",
            deadline: ("connect", depot.rules.connectTimeout)
        )
        let link: any Link
        do throws(RadioError) {
            link = try await connect(to: sighting)
        } catch { throw Halt(error, "while connecting") }
        do throws(Halt) {
            try await enter(.authenticating)
        } catch {
            // Nobody else knows of the link: left open, it would keep the module from being heard.
            await link.disconnect()
            throw error
        }
        do throws(ModuleError) {
            try await openApplication(on: link)
        } catch {
            let halt = halt(after: error, "while authenticating")
            guard case .verdict = halt else { throw halt }
            // Another one may bear the same serial: its secret is what tells them apart.
            let look = time.now.advanced(by: Self.lookForOthers)
            guard let other = try await seek(before: look), other.role == .application else {
                throw halt
            }
            try await open(other)
        }
    }

    /// The link to the application, made again when an update has ended the last one.
    func present() async throws(Halt) -> any ModuleApplication {
        if let application { return application }
        let sighting = try await sighted()
        heard = nil
        guard sighting.role == .application else {
            throw .failure(.transient, "the module is in its bootloader")
        }
        try await open(sighting)
        guard let application else {
            throw .failure(.internal, "an opened link has no application")
        }
        return application
    }

    /// The module as it was heard a moment ago, or else is heard now.
    private func sighted() async throws(Halt) -> ModuleSighting {
        if let heard { return heard }
        let sighting = try await search()
        heard = sighting
        return sighting
    }

    /// How strong the module was heard last, in dBm.
    func heardSignal() async throws(Halt) -> Int {
        if hasLink, let lastSignal { return lastSignal }
        return try await sighted().signal
    }

    /// What the module is and runs; tells whoever watches.
    func look(at order: UpdateOrder) async throws(Halt) -> Inspection {
        try await enter(.inspecting)
        let application = try await present()
        do throws(ModuleError) {
            return noted(try await application.inspect(order), of: order.target)
        } catch { throw Halt(error, "while reading its versions") }
    }

    func noted(_ found: Inspection, of target: ModulePart) -> Inspection {
        hasLooked = true
        let version = found.firmware.version
        if record.versionBefore == nil { record.versionBefore = version }
        record.versionAfter = version
        func text(_ number: Int?) -> String { number.map(String.init) ?? "unknown" }
        var facts = [
            Fact("type", text(found.firmware.type)),
            Fact("variant", text(found.firmware.variant)),
        ]
        for part in ModulePart.allCases where part != target {
            guard let version = found.versions[part] else { continue }
            facts.append(Fact(part.rawValue, version.description))
        }
        depot.events.emit(.inspected(vehicle, version: version, facts: facts))
        return found
    }
}
