import Domain
import Journal
import Manifest
import Modules
import Radio
import Reports
import Sessions
import Wire

/// One attempt: reach the module, look at it, do the steps that are left.
extension Execution {
    func attempt() async throws(Halt) {
        if depot.stop.isRequested { throw .stopped }
        let halt: Halt?
        do throws(Halt) {
            try await doSteps()
            halt = nil
        } catch { halt = error }
        await hangUp()
        if let halt { throw halt }
    }

    private func doSteps() async throws(Halt) {
        let sighting = try await search()
        var left = Array(job.steps.enumerated())[...]
        if sighting.role == .bootloader {
            // It is finished first, whatever else is to be done: what came before held when the
            // update began.
            let (step, update) = try updateToFinish()
            try await perform(update, step: step, from: sighting)
            left = left.dropFirst(step + 1)
        } else {
            if record.stage == "none" { record.inBootloader = false }
            try await open(sighting)
        }
        for (index, step) in left { try await perform(step, index) }
        // A job without an update still says what its module runs.
        if !hasLooked { _ = try await look(at: UpdateOrder(serial: job.serial, parts: [])) }
    }

    /// One function for each kind of step.
    private func perform(_ step: JobStep, _ index: Int) async throws(Halt) {
        switch step {
        case .require(let requirements, let otherwise):
            try await check(requirements, otherwise)
        case .update(let update):
            try await perform(update, step: index)
        }
    }

    private func updateToFinish() throws(Halt) -> (Int, UpdateJob) {
        let updates = job.steps.enumerated().compactMap { index, step in
            if case .update(let update) = step { return (index, update) }
            return nil
        }
        let begun = updates.first { update in
            update.1.stages.contains { $0.digest == record.image }
        }
        guard let update = begun ?? updates.first else {
            record.inBootloader = true
            throw .verdict(
                .failed,
                .device,
                "waits in its bootloader, and this rollout has no update to finish; run the "
                    + "rollout that began it"
            )
        }
        return update
    }

    // MARK: Reaching the module

    /// Searches as often as the rules allow before the module counts as unreachable.
    private func search() async throws(Halt) -> ModuleSighting {
        let rules = depot.rules
        for _ in 0..<rules.seekAttempts {
            try await enter(.seeking, deadline: ("search", rules.seekTimeout))
            let deadline = time.now.advanced(by: rules.seekTimeout)
            if let sighting = try await seek(before: deadline) { return sighting }
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
        try await enter(.authenticating)
        do throws(ModuleError) {
            try await openApplication(on: link)
        } catch { throw halt(after: error, "while authenticating") }
    }

    /// The link to the application, made anew when an update has ended the last one.
    func present() async throws(Halt) -> any ModuleApplication {
        if let application { return application }
        let sighting = try await search()
        guard sighting.role == .application else {
            throw .failure(.transient, "the module is in its bootloader")
        }
        try await open(sighting)
        guard let application else {
            throw .failure(.internal, "an opened link has no application")
        }
        return application
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

    // MARK: Preconditions

    private func check(
        _ requirements: [Requirement],
        _ otherwise: Otherwise
    ) async throws(Halt) {
        for requirement in requirements {
            guard let problem = try await problem(with: requirement) else { continue }
            depot.events.emit(.problem(vehicle, problem))
            let sentence = problem.sentence
            switch otherwise {
            case .defer: throw .verdict(.deferred, nil, sentence)
            case .skip: throw .verdict(.skipped, nil, sentence)
            case .fail: throw .verdict(.failed, .rejected, sentence)
            case .warn: depot.events.emit(.warning("\(vehicle): \(sentence)"))
            }
        }
    }

    /// What is wrong with a value that the module reports; nil when it is as required.
    private func problem(with requirement: Requirement) async throws(Halt) -> Problem? {
        let application = try await present()
        do throws(ModuleError) {
            return try await problem(with: requirement, on: application)
        } catch { throw Halt(error, "while reading \(requirement.property.rawValue)") }
    }

    func problem(
        with requirement: Requirement,
        on application: any ModuleApplication
    ) async throws(ModuleError) -> Problem? {
        let measured = try await measure(requirement.property, on: application)
        if let measured, requirement.condition.holds(for: measured) { return nil }
        return Problem(
            check: requirement.property.rawValue,
            measured: measured?.text ?? "not available",
            required: requirement.condition.description
        )
    }

    private func measure(
        _ property: Property,
        on application: any ModuleApplication
    ) async throws(ModuleError) -> Literal? {
        guard let client = (application as? ComoduleApplication)?.client else { return nil }
        switch property {
        case .stateOfCharge:
            return try await client.record(PowerRecord.id)
                .flatMap { PowerRecord($0) }
                .map { Literal(Double($0.stateOfCharge)) }
        case .speed:
            return try await client.record(MotionRecord.id)
                .flatMap { MotionRecord($0) }
                .map { Literal(Double($0.speedTenths) / 10) }
        }
    }
}

extension Problem {
    var sentence: String { "\(check) is \(measured), required is \(required)" }
}
