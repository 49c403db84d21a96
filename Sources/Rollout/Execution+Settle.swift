import Domain
import Journal
import Modules
import Radio
import Sessions
import Wire

/// Waiting until the module has come to rest, and believing only what it then says.
extension Execution {
    func settle(
        _ update: UpdateJob,
        step: Int,
        on open: ComoduleClient?
    ) async throws(Halt) {
        let rules = depot.rules.settle
        let deadline = record.settleDeadline ?? rules.deadline(from: time.wallTime)
        record.settleDeadline = deadline
        record.inBootloader = false
        let left = Duration.milliseconds(
            max(0, deadline.milliseconds - time.wallTime.milliseconds)
        )
        try await enter(.settling, durably: true, deadline: ("settle", left))
        var machine = SettleMachine(
            target: update.version,
            rules: rules,
            deadline: deadline,
            now: time.now,
            wallTime: time.wallTime,
            restarts: record.restarts
        )
        var client = open
        let halt: Halt?
        do throws(Halt) {
            try await watch(&machine, &client, update)
            halt = nil
        } catch { halt = error }
        await client?.disconnect()
        record.restarts = machine.restarts
        if let halt { throw halt }
    }

    private func watch(
        _ machine: inout SettleMachine,
        _ client: inout ComoduleClient?,
        _ update: UpdateJob
    ) async throws(Halt) {
        var action =
            client == nil ? machine.begin(at: time.now) : machine.connected(at: time.now)
        var pause = ReturnPause()
        while true {
            if depot.stop.isRequested { throw .stopped }
            switch action {
            case .seek(let from):
                try await rest(
                    until: min(from.advanced(by: pause.next()), machine.deadline),
                    .settling,
                    for: "the module to come back"
                )
                client = try await comeBack()
                if client != nil { pause = ReturnPause() }
                action =
                    client == nil
                    ? machine.tick(at: time.now) : machine.connected(at: time.now)
            case .observe(let moment):
                action = try await look(&machine, &client, until: moment)
            case .disconnectAndWait:
                await client?.disconnect()
                client = nil
                action = machine.disconnected(at: time.now)
            case .wait:
                await time.sleep(
                    until: machine.nextDeadline ?? time.now,
                    for: "the settle deadline"
                )
                action = machine.tick(at: time.now)
            case .finished(let verdict):
                try await finish(verdict, update)
                return
            }
        }
    }

    /// A link to the module's application, or nil when there is none for now.
    private func comeBack() async throws(Halt) -> ComoduleClient? {
        let limit = min(depot.rules.seekTimeout, ReturnPause.look)
        guard let sighting = try await seek(for: limit) else { return nil }
        guard sighting.role == .application else {
            // It did not start the image: what it wants is in the bootloader's own state.
            record.settleDeadline = nil
            record.inBootloader = true
            throw .failure(.transient, "the module is in its bootloader again")
        }
        do throws(Halt) {
            let link = try await connect(to: sighting)
            return try await authenticate(link)
        } catch {
            guard case .failure(.transient, _) = error else {
                guard case .failure(.device, _) = error else { throw error }
                return nil
            }
            return nil
        }
    }

    /// Waits for the time of the next look, hearing meanwhile what the module says by itself.
    private func look(
        _ machine: inout SettleMachine,
        _ client: inout ComoduleClient?,
        until moment: Moment
    ) async throws(Halt) -> SettleMachine.Action {
        guard let link = client else { return machine.disconnected(at: time.now) }
        do throws(ModuleError) {
            while time.now < moment {
                let next = min(moment, time.now.advanced(by: .seconds(1)))
                if let record = try await link.notification(before: next),
                    let versions = VersionsRecord(record), versions.handoff != 0
                {
                    return machine.observed(
                        Observation(ongoing: true, version: nil),
                        at: time.now
                    )
                }
                if depot.stop.isRequested { return .observe(at: moment) }
            }
            let info = try await link.firmware()
            record.versionAfter = info.secondary
            return machine.observed(
                Observation(ongoing: info.isOngoing, version: info.secondary),
                at: time.now
            )
        } catch {
            if case .radio(let radio) = error, radio.isHostFault {
                client = nil
                throw .host(radio)
            }
            guard error.isLinkLoss else {
                return machine.observed(Observation(ongoing: false, version: nil), at: time.now)
            }
            client = nil
            return machine.disconnected(at: time.now)
        }
    }

    private func finish(_ verdict: SettleVerdict, _ update: UpdateJob) async throws(Halt) {
        record.settleDeadline = nil
        switch verdict {
        case .confirmed(let version):
            record.versionAfter = version
            try await settleIntents(update.digest, as: "confirmed \(version)")
            provenUpdates += 1
        case .noReturn, .wrongVersion, .rolledBack, .stillOngoing:
            try await settleIntents(update.digest, as: verdict.description)
            throw .verdict(verdict.outcome, verdict.failureClass, verdict.description)
        }
    }
}
