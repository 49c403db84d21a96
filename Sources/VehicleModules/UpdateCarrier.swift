import Base
import Families
import Radio

/// Carries out one update for a program, and owns the module's link meanwhile.
final class UpdateCarrier {
    enum Halt: Error {
        /// The host's radio does not work, which is not the module's fault.
        case host(RadioError)
        case failure(ModuleFailure)
    }

    /// How long to wait for the host's radio.
    static let hostPatience = Duration.seconds(120)

    private let plan: UpdatePlan
    private let update: FirmwareUpdate
    private let central: any Central
    private let log: ModuleLog
    let time: any Timekeeper
    let link: VehicleLink
    private var bootloaderPlace: String?
    private var memory: UpdateMemory
    private var kept: FirmwareUpdateRecord?
    private var status = FirmwareUpdateStatus.searching
    private var upload: (before: Int, began: Moment) = (0, Moment(nanoseconds: 0))
    /// The time since which the host's radio has not worked.
    private var hostSince: Moment?

    init(
        _ plan: UpdatePlan,
        _ update: FirmwareUpdate,
        _ central: any Central,
        _ time: any Timekeeper,
        _ log: ModuleLog
    ) {
        self.plan = plan
        self.update = update
        self.central = central
        self.time = time
        self.log = log
        memory = plan.record?.memory ?? UpdateMemory()
        kept = plan.record
        bootloaderPlace = plan.record?.bootloader
        link = VehicleLink(
            to: plan.serial,
            central,
            time,
            bond: plan.bond,
            connectingFor: plan.limits.connect
        )
    }

    func run() async -> Result<FirmwareUpdateResult, ModuleFailure> {
        log.info("\(plan.serial): update to \(plan.image.target)")
        var result = await attempts()
        await link.forget()
        if case .success(let ended) = result, ended != .stopped {
            // The module was seen at rest with the image, so nothing is owed any more.
            do throws(ModuleFailure) { try write(nil) } catch { result = .failure(error) }
        }
        switch result {
        case .success(.updated): log.info("\(plan.serial): runs \(plan.image.target)")
        case .success(.alreadyCurrent): log.info("\(plan.serial): runs it already")
        case .success(.stopped): log.info("\(plan.serial): update stopped at a safe point")
        case .failure(let failure):
            log.error("\(plan.serial): update failed: \(name: failure.description)")
        }
        return result
    }

    private func attempts() async -> Result<FirmwareUpdateResult, ModuleFailure> {
        var (transient, device) = (max(0, plan.options.attempts - 1), 1)
        var pause = Duration.seconds(1)
        while true {
            let ending: UpdateEnding
            do throws(Halt) {
                ending = try await attempt()
            } catch {
                await link.close()
                switch error {
                case .failure(let failure): return .failure(failure)
                case .host(let fault):
                    let since = hostSince ?? time.now
                    hostSince = since
                    guard since.duration(to: time.now) < Self.hostPatience else {
                        return .failure(ModuleFailure(DiscoveryProblem(fault)))
                    }
                    show(.bluetoothOff)
                    guard await rested(.seconds(5), for: "the host's radio to come back") else {
                        return .success(.stopped)
                    }
                    continue
                }
            }
            await link.close()
            hostSince = nil
            if case .alreadyCurrent = ending, isOwed {
                // One observation proves nothing about the earlier update: the module is observed
                // until it is at rest.
                memory.stage = .settling
                continue
            }
            guard case .failed(let fault) = ending else { return end(ending) }
            switch fault.failure {
            case .transient where transient > 0: transient -= 1
            case .device where device > 0: device -= 1
            case .transient, .unreachable, .rejected, .integrity, .device, .noReturn, .wrongVersion,
                .rolledBack, .inDoubt, .internal:
                return .failure(failure(fault))
            }
            log.warning("\(plan.serial): \(name: fault.description); it is tried again")
            guard await rested(pause, for: "the pause before the next attempt") else {
                return .success(.stopped)
            }
            pause = min(.seconds(30), pause * 2)
        }
    }

    /// False when the update was stopped meanwhile.
    private func rested(_ pause: Duration, for purpose: String) async -> Bool {
        await time.wait(until: time.now.advanced(by: pause), for: purpose, unless: isStopped)
        return !isStopped()
    }

    private var isOwed: Bool { memory.stage != .none && memory.stage != .settling }

    private func attempt() async throws(Halt) -> UpdateEnding {
        let session = UpdateSession(
            plan.goal,
            limits: plan.limits,
            memory: memory,
            now: time.now,
            wallTime: time.wallTime
        )
        return try await UpdateEngine(plan.order, session, over: self, noting: self).ending()
    }

    private func end(_ ending: UpdateEnding) -> Result<FirmwareUpdateResult, ModuleFailure> {
        switch ending {
        case .alreadyCurrent(let version): return .success(.alreadyCurrent(version?.description))
        case .passed(let version): return .success(.alreadyCurrent(version.description))
        case .settled(.confirmed(let version)):
            return .success(.updated(to: version.description))
        case .stopped:
            // After a stop request, the update has stopped. A cancelled task gets its own error.
            return .success(.stopped)
        case .settled(let verdict): return .failure(ModuleFailure(verdict))
        case .rejected(let reason): return .failure(ModuleFailure(reason))
        case .unhealthy(let sentence, _, _):
            return .failure(ModuleFailure(.unexpected, sentence, "look at the module"))
        case .failed(let fault): return .failure(failure(fault))
        }
    }

    private func failure(_ fault: UpdateFault) -> ModuleFailure {
        let code: ModuleFailure.Code
        let remedy: String
        switch fault.failure {
        case .transient:
            (code, remedy) = (.updateInterrupted, "move closer, and update again: it goes on")
        case .unreachable:
            code = .timedOut
            remedy = "see whether it is near, charged, and not connected to a phone"
        case .rejected: (code, remedy) = (.updateRejected, "give it an image that is made for it")
        case .integrity: (code, remedy) = (.invalidImage, "get the file again from its maker")
        case .device: (code, remedy) = (.refused, "restart the module, and update again")
        case .noReturn, .wrongVersion, .rolledBack, .inDoubt, .internal:
            (code, remedy) = (.unexpected, "look at the module")
        }
        return ModuleFailure(code, fault.description, remedy)
    }

    private func show(_ status: FirmwareUpdateStatus) {
        self.status = status
        update.broken.change(to: memory.interruptions)
        update.current.change(to: status)
    }
}

extension UpdateCarrier: UpdateOwner {
    var driver: any UpdateDriver { plan.driver }

    var isStopped: @Sendable () -> Bool {
        let stopping = update.stopping
        return { stopping.isRequested || Task.isCancelled }
    }

    // MARK: Links

    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        do throws(RadioError) {
            return try await link.seek(
                plan.driver.recogniser,
                bootloader: bootloaderPlace.map { Peer(handle: $0) },
                before: deadline,
                unless: isStopped
            )
        } catch {
            if error == .cancelled { return nil }
            throw halt(after: error)
        }
    }

    func connect(to sighting: ModuleSighting) async throws(RadioError) {
        try await link.connect(to: sighting)
    }

    func openApplication() async throws(ModuleError) {
        try await link.openApplication(by: plan.driver)
        bootloaderPlace = link.application?.bootloaderPlace?.handle ?? bootloaderPlace
    }

    func rest(
        until moment: Moment,
        _ memory: UpdateMemory,
        for purpose: String
    ) async throws(Halt) {
        await time.wait(until: moment, for: purpose, unless: isStopped)
    }

    // MARK: Faults

    func halt(after fault: RadioError) -> Halt {
        if fault.isHostFault, fault != .unauthorized { return .host(fault) }
        return .failure(ModuleFailure(DiscoveryProblem(fault)))
    }

    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault {
        if link.suspects(error) == .wrongKey {
            throw .failure(.wrongSecret)
        }
        return error.fault(while: "while authenticating")
    }

    // MARK: Observations

    func inspected(_ found: Inspection, of target: ModulePart) {
        guard let version = found.firmware.version else { return }
        log.info("\(plan.serial): runs \(version)")
    }

    func observed(_ seen: Observation) {}

    func sent(_ count: Int) {}
}

extension UpdateCarrier: UpdateNotes {
    func checkAgain() async throws(Halt) {}

    func health(
        on application: any ModuleApplication,
        before deadline: Moment?
    ) async throws(ModuleError) -> UpdateSession.Health { .well }

    func begins(_ part: Int) {
        let before = plan.image.content.parts.prefix(part).reduce(0) { $0 + $1.size }
        upload = (before, time.now)
    }

    func keep(_ session: UpdateSession) async throws(Halt) {
        let interrupted = session.memory.interruptions > memory.interruptions
        memory = session.memory
        if interrupted, let cause = session.lastCause {
            log.warning("\(plan.serial): the update was interrupted: \(name: cause.description)")
        }
        try record(session.memory.stage == .none ? nil : session.memory)
        show(status(in: session.state) ?? status)
        await report()
    }

    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt) {
        memory = session.memory
        let (position, from) = (
            upload.before + heard.acknowledged, upload.before + heard.resumedFrom
        )
        let seconds = Double(upload.began.duration(to: time.now).nanoseconds) / 1e9
        show(
            .uploading(
                FirmwareUpdateProgress(
                    sent: min(position, plan.image.size),
                    total: plan.image.size,
                    resumedFrom: from,
                    bytesPerSecond: seconds > 0 && position > from
                        ? Double(position - from) / seconds : nil
                )
            )
        )
        await report()
    }

    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt) {
        switch ending {
        case .settled(.noReturn), .settled(.stillOngoing):
            // The waiting time starts again when the update is continued.
            memory.settleDeadline = nil
            try record(memory)
        case .settled, .unhealthy:
            memory = UpdateMemory()
            try record(nil)
        case .stopped, .failed, .alreadyCurrent, .passed, .rejected:
            return
        }
    }

    private func record(_ memory: UpdateMemory?) throws(Halt) {
        do throws(ModuleFailure) { try write(memory) } catch { throw .failure(error) }
    }

    /// Passes the record to the program if it has changed.
    private func write(_ memory: UpdateMemory?) throws(ModuleFailure) {
        let record = memory.map {
            FirmwareUpdateRecord(plan.image.digest, $0, bootloader: bootloaderPlace)
        }
        guard !(record?.isSame(as: kept) ?? (kept == nil)) else { return }
        kept = record
        do { try plan.keep(record) } catch {
            throw ModuleFailure(
                .recordNotKept,
                "the update record could not be stored: \(error)",
                "check the place where records are stored, and update again"
            )
        }
    }

    private func status(in state: UpdateState) -> FirmwareUpdateStatus? {
        switch state {
        case .seeking: .searching
        case .connecting: .handshaking
        case .inspecting: .inspecting
        case .preparing, .probing: .initiating
        case .activating, .settling, .rollingBack: .settling
        case .checking, .confirming: .confirming
        case .transferring:
            .uploading(
                FirmwareUpdateProgress(
                    sent: min(memory.acknowledged, plan.image.size),
                    total: plan.image.size,
                    resumedFrom: min(memory.acknowledged, plan.image.size),
                    bytesPerSecond: nil
                )
            )
        case .idle, .leaving, .pausing, .ended: nil
        }
    }

    /// Reports the same as a step of the module's own update status.
    private func report() async {
        switch status {
        case .uploading(let progress):
            let share = min(10_000, max(0, Int(progress.percent * 100)))
            await plan.stage(.uploading, Double(share) / 100)
        case .settling, .confirming: await plan.stage(.uploading, 100)
        case .bluetoothOff, .searching, .handshaking, .inspecting, .initiating, .ended, .failed:
            await plan.stage(.initiating, 0)
        }
    }
}

extension ModuleFailure {
    fileprivate init(_ verdict: SettleVerdict) {
        let code: Code
        let remedy: String
        switch verdict {
        case .noReturn, .stillOngoing:
            (code, remedy) = (.noReturn, "wait some minutes, and update again: it is looked for")
        case .wrongVersion, .otherBuild, .refused, .confirmed:
            (code, remedy) = (.wrongVersion, "check that the image is made for this module")
        case .rolledBack:
            (code, remedy) = (.rolledBack, "ask the image's maker why it does not stay")
        }
        self.init(code, verdict.description, remedy)
    }

    fileprivate init(_ reason: UpdateDecision.Reason) {
        switch reason {
        case .unknownVersion:
            self.init(
                .updateRejected,
                "the module does not report its version, so the image could be older",
                "set `allowsDowngrade` if it may be"
            )
        case .downgrade(let running, let wanted):
            self.init(
                .updateRejected,
                "the module runs \(running), newer than \(wanted)",
                "set `allowsDowngrade` if it is meant"
            )
        case .family, .type, .variant, .tooOld:
            self.init(
                .updateRejected,
                reason.description,
                "give it an image that is made for it"
            )
        }
    }
}
