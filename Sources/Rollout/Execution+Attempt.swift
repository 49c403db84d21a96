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
        let sighting = try await search()
        if sighting.role == .bootloader {
            try await resumeInBootloader(sighting)
            return
        }
        record.inBootloader = false
        let client = try await open(sighting)
        let halt: Halt?
        do throws(Halt) {
            try await work(on: client)
            halt = nil
        } catch { halt = error }
        await client.disconnect()
        if let halt { throw halt }
    }

    /// Searches as often as the rules allow before the module counts as unreachable.
    private func search() async throws(Halt) -> ModuleSighting {
        let rules = depot.rules
        for _ in 0..<rules.seekAttempts {
            try await enter(.seeking, deadline: ("search", rules.seekTimeout))
            if let sighting = try await seek(for: rules.seekTimeout) { return sighting }
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

    /// Connects, authenticates, and reads what runs.
    private func open(_ sighting: ModuleSighting) async throws(Halt) -> ComoduleClient {
        try await enter(
            .connecting,
            detail: "\(sighting.signal) dBm",
            deadline: ("connect", depot.rules.connectTimeout)
        )
        let link = try await connect(to: sighting)
        try await enter(.authenticating)
        return try await authenticate(link)
    }

    private func work(on client: ComoduleClient) async throws(Halt) {
        try await enter(.inspecting)
        let info = try await inspect(client)
        if record.versionBefore == nil { record.versionBefore = info.secondary }
        record.versionAfter = info.secondary
        var client: ComoduleClient? = client
        var known: FirmwareInfo? = info
        for (index, step) in job.steps.enumerated() {
            switch step {
            case .require(let requirements, let otherwise):
                let link = try await present(&client)
                try await check(requirements, otherwise, on: link)
            case .update(let update):
                let link = try await present(&client)
                let isOver = try await performUpdate(update, step: index, on: link, known)
                // What was read before an update says nothing after it.
                if isOver { (client, known) = (nil, nil) }
            }
        }
    }

    /// The link to the application, made anew when an update has ended the last one.
    private func present(_ client: inout ComoduleClient?) async throws(Halt) -> ComoduleClient {
        if let client { return client }
        let fresh = try await open(try await search())
        client = fresh
        return fresh
    }

    func inspect(_ client: ComoduleClient) async throws(Halt) -> FirmwareInfo {
        do throws(ModuleError) {
            let info = try await client.firmware()
            var facts = [
                Fact("type", info.type.map(String.init) ?? "unknown"),
                Fact("variant", String(info.variant)),
            ]
            if let primary = info.primary { facts.append(Fact("primary", primary.description)) }
            depot.events.emit(.inspected(vehicle, version: info.secondary, facts: facts))
            return info
        } catch { throw Halt(error, "while reading its versions") }
    }

    // MARK: Preconditions

    private func check(
        _ requirements: [Requirement],
        _ otherwise: Otherwise,
        on client: ComoduleClient
    ) async throws(Halt) {
        for requirement in requirements {
            let measured = try await measure(requirement.property, on: client)
            if let measured, requirement.condition.holds(for: measured) { continue }
            let problem = Problem(
                check: requirement.property.rawValue,
                measured: measured?.text ?? "not available",
                required: requirement.condition.description
            )
            depot.events.emit(.problem(vehicle, problem))
            let sentence =
                "\(problem.check) is \(problem.measured), required is \(problem.required)"
            switch otherwise {
            case .defer: throw .verdict(.deferred, nil, sentence)
            case .skip: throw .verdict(.skipped, nil, sentence)
            case .fail: throw .verdict(.failed, .rejected, sentence)
            case .warn: depot.events.emit(.warning("\(vehicle): \(sentence)"))
            }
        }
    }

    private func measure(
        _ property: Property,
        on client: ComoduleClient
    ) async throws(Halt) -> Literal? {
        do throws(ModuleError) {
            switch property {
            case .stateOfCharge:
                let record = try await client.record(PowerRecord.id)
                return record.flatMap { PowerRecord($0) }.map { Literal(Double($0.stateOfCharge)) }
            case .speed:
                let record = try await client.record(MotionRecord.id)
                return record.flatMap { MotionRecord($0) }.map {
                    Literal(Double($0.speedTenths) / 10)
                }
            }
        } catch { throw Halt(error, "while reading \(property.rawValue)") }
    }

    // MARK: Updating

    /// Brings the module to the image's version; true when that ended the link.
    private func performUpdate(
        _ update: UpdateJob,
        step: Int,
        on client: ComoduleClient,
        _ known: FirmwareInfo?
    ) async throws(Halt) -> Bool {
        let info: FirmwareInfo
        if let known { info = known } else { info = try await inspect(client) }
        if record.settleDeadline != nil, record.image == update.digest {
            // An earlier run sent the whole image: what is left is to see it settle.
            try await settle(update, step: step, on: client)
            return true
        }
        switch UpdateDecision.decide(
            current: info.identity,
            image: update.identity,
            policy: UpdatePolicy(allowsDowngrade: update.allowsDowngrade)
        ) {
        case .alreadyCurrent:
            record.versionAfter = info.secondary
            return false
        case .rejected(let reason):
            throw .verdict(.rejected, .rejected, reason.description)
        case .update:
            break
        }
        try await begin(update, step: step, on: client)
        try await transfer(update)
        try await settle(update, step: step, on: nil)
        return true
    }

    /// The point from which the module is changed: the intent is on disk before it is told.
    private func begin(
        _ update: UpdateJob,
        step: Int,
        on client: ComoduleClient
    ) async throws(Halt) {
        guard let name = BootloaderName(of: job.serial) else {
            throw .verdict(.failed, .internal, "the serial is too long for a bootloader's name")
        }
        if depot.stop.isRequested { throw .stopped }
        record.image = update.digest
        record.totalBytes = ByteCount(count: UInt(update.size))
        record.acknowledged = .zero
        record.restarts = 0
        record.inBootloader = true
        try await intend(update, step: step)
        try await enter(.starting, durably: true)
        do throws(ModuleError) {
            try await client.announce(
                PreflightRecord(
                    target: .own,
                    crc: update.parts.last.map { CRC32.of($0.firmware) } ?? 0
                )
            )
            try await client.enterBootloader(as: name)
        } catch {
            record.inBootloader = error.isLinkLoss
            throw Halt(error, "while starting its bootloader")
        }
        await client.disconnect()
    }

    private func intend(_ update: UpdateJob, step: Int) async throws(Halt) {
        do throws(JournalError) {
            try await depot.journal.record(record, durably: false)
            let open = try await depot.journal.openIntents(
                rollout: depot.rollout,
                vehicle: vehicle
            )
            // A transfer in doubt is the same transfer: the module says how far it is.
            guard !open.contains(where: { $0.intent.image == update.digest }) else { return }
            _ = try await depot.journal.intend(
                Intent(
                    rollout: depot.rollout,
                    vehicle: vehicle,
                    step: step,
                    effect: .transfer,
                    description: "update to \(update.name) \(update.version)",
                    image: update.digest,
                    begun: time.wallTime
                )
            )
        } catch { throw .journal(error) }
    }

    /// Settles what was intended for this vehicle and image.
    func settleIntents(_ image: SHA256Digest, as outcome: String) async throws(Halt) {
        do throws(JournalError) {
            for record in try await depot.journal.openIntents(
                rollout: depot.rollout,
                vehicle: vehicle
            )
            where record.intent.image == image {
                try await depot.journal.settle(record.id, outcome: outcome, at: time.wallTime)
            }
        } catch { throw .journal(error) }
    }

    /// A module that waits in its bootloader is finished first, whatever else is to be done.
    private func resumeInBootloader(_ sighting: ModuleSighting) async throws(Halt) {
        record.inBootloader = true
        let updates = job.steps.enumerated().compactMap { index, step in
            if case .update(let update) = step { return (index, update) }
            return nil
        }
        guard
            let (step, update) = updates.first(where: { $0.1.digest == record.image })
                ?? updates.first
        else {
            throw .verdict(
                .failed,
                .device,
                "waits in its bootloader, and this rollout has no update to finish; run the "
                    + "rollout that began it"
            )
        }
        if record.image != update.digest {
            record.image = update.digest
            record.totalBytes = ByteCount(count: UInt(update.size))
            record.acknowledged = .zero
        }
        record.settleDeadline = nil
        try await intend(update, step: step)
        try await transfer(update, from: sighting)
        try await settle(update, step: step, on: nil)
        guard step + 1 < job.steps.count else { return }
        // The steps after the update need the application: what came before it held when it began.
        let client = try await open(try await search())
        let halt: Halt?
        do throws(Halt) {
            try await work(on: client)
            halt = nil
        } catch { halt = error }
        await client.disconnect()
        if let halt { throw halt }
    }
}
