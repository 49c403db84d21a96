import Base
import Radio
import Simulation

/// Updates of a simulated Comodule module: entering the bootloader, the transfer, and the steps
/// after it.
extension ComoduleModule {
    // MARK: Into the bootloader

    /// Stays in its bootloader permanently, as a module with a damaged application does.
    package func stayInBootloader() {
        isStuck = true
        restart(as: .bootloader, after: .milliseconds(300))
    }

    /// Returns to the application when the bootloader hears from no client for long.
    func watchBootloader() {
        guard !isStuck else { return }
        let isBetweenParts = facts.isBetweenParts
        let patience = isBetweenParts ? Self.continuation : Self.bootloaderPatience
        world.after(patience) { [weak self] in
            guard let self, self.isInBootloader else { return }
            if self.lastSign.duration(to: self.world.now) >= patience {
                self.restart(as: .application, after: self.plan.restartTime)
            } else {
                self.watchBootloader()
            }
        }
    }

    // MARK: Transfer

    func packet(_ bytes: ArraySlice<UInt8>) {
        lastSign = world.now
        packetBytes += bytes.count
        let before = target.facts.received
        if happens(.dropPacket(at: before)) { return }
        perform(target.packetWritten(bytes))
        drainOnePacket(of: bytes.count)
        if target.facts.received > before { cut(at: target.facts.received) }
    }

    /// Flash needs time for each packet; until then the packet occupies room in the pool.
    private func drainOnePacket(of bytes: Int) {
        guard plan.packetPool != nil else { return }
        let time = plan.pageWriteTime * bytes / 4_096
        occupyFlash(time)
        whenReady { [weak self] in self?.target.drained(1) }
    }

    func perform(_ actions: [SecureDFUAction]) {
        // Data since the last answer or page is lost on a power failure, as in a real bootloader.
        guard !actions.isEmpty else { return }
        save()
        var delay = Duration.zero
        for action in actions {
            switch action {
            case .erase(let offset):
                if happens(.restartInErase(at: offset)) {
                    breakOff(.restart)
                    return
                }
                delay += plan.eraseTime
                occupyFlash(plan.eraseTime)
            case .notify(let bytes):
                notify(bytes, after: delay)
            case .restart(let activate):
                activate ? self.activate() : restart(as: .application, after: plan.restartTime)
            }
        }
    }

    func notify(_ bytes: [UInt8], after delay: Duration) {
        if isLost({ .loseNotification($0) }) { return }
        let bytes = falsified(bytes)
        let times = happens(.repeatNotification(notifications)) ? 2 : 1
        for _ in 0..<times { tell(bytes, after: delay) }
    }

    private func tell(_ bytes: [UInt8], after delay: Duration) {
        guard delay > .zero else {
            link?.notify(bytes, on: DFUNumbers.controlPoint)
            return
        }
        world.after(delay) { [link] in link?.notify(bytes, on: DFUNumbers.controlPoint) }
    }

    /// Falsifies a checksum answer when the script has a fault of the bootloader for it.
    private func falsified(_ bytes: [UInt8]) -> [UInt8] {
        guard !plan.faults.isEmpty else { return bytes }
        guard case .checksum(let offset, let crc)? = try? DFUResponse(bytes) else { return bytes }
        let at = Int(offset)
        if happens({ if case .wrongChecksum(let from) = $0 { at >= from } else { false } }) {
            return DFUResponse.checksum(offset: offset, crc: ~crc).bytes
        }
        if happens({ if case .wrongOffset(let from) = $0 { at >= from } else { false } }) {
            return DFUResponse.checksum(offset: offset &+ 4, crc: crc).bytes
        }
        return bytes
    }

    /// The image is complete: installs and starts it, or does what the script demands.
    func activate() {
        let packet = try? InitPacket(target.facts.initPacket)
        target.progressLost()
        if happens(.neverReturn) { return restart(as: .dead, after: plan.restartTime) }
        let time = plan.activationTime + plan.restartTime
        if happens(.refuseBoot) { return restart(as: .bootloader, after: time) }
        let back = world.now.advanced(by: time)
        let unchanged = happens(.returnUnchanged)
        if let packet, packet.type != .application, packet.type != .external {
            if !unchanged, packet.type != .softDevice {
                facts.bootloader = packet.version ?? facts.bootloader
            }
            // Another part may follow; the bootloader waits for it before it starts anything.
            facts.isBetweenParts = true
            return restart(as: .bootloader, after: time)
        }
        if !unchanged, let version = packet?.version {
            install(version, for: facts.preflight, from: back)
        }
        if happens(.addressChanges) { run.addressGeneration &+= 1 }
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            if case .flap(let total, _) = fault.kind {
                count(index)
                facts.ongoingUntil = back.advanced(by: total)
            }
        }
        restart(as: .application, after: time)
    }

    private func install(_ version: FirmwareVersion, for part: ModulePart, from back: Moment) {
        guard part.isHandedOver else {
            facts.revertsTo = nil
            for (index, fault) in plan.faults.enumerated() where isLeft(index) {
                guard case .revert(let delay) = fault.kind else { continue }
                count(index)
                facts.revertsTo = facts.version
                facts.revertsAt = back.advanced(by: delay)
            }
            facts.version = version
            return
        }
        let begins = back.advanced(by: Self.handoverDelay)
        facts.handover = ModuleFacts.Handover(
            part: part,
            version: version,
            begins: begins,
            ends: begins.advanced(by: plan.handoverTime)
        )
    }

    // MARK: Handing over

    /// The time that the application needs before it begins to hand an image over.
    static let handoverDelay = Duration.seconds(5)

    /// Hands an image on to one of its parts for `duration`, beginning now.
    package func handOn(_ duration: Duration) {
        facts.handover = ModuleFacts.Handover(
            part: .primary,
            version: facts.primaryVersion,
            begins: world.now,
            ends: world.now.advanced(by: duration)
        )
        save()
        goOnHandingOver()
    }

    var isHandingOver: Bool {
        facts.handover.map { $0.begins <= world.now } ?? false
    }

    /// Continues a handover until its end, over restarts of the module and of the simulation.
    func goOnHandingOver() {
        guard let handover = facts.handover else { return }
        world.at(max(world.now, handover.begins)) { [weak self] in self?.tellVersions() }
        world.at(max(world.now, handover.ends)) { [weak self] in
            guard let self, self.facts.handover == handover else { return }
            self.facts.handover = nil
            switch handover.part {
            case .primary: self.facts.primaryVersion = handover.version
            case .external1: self.facts.external1 = handover.version
            case .external2: self.facts.external2 = handover.version
            case .secondary, .bootloader: break
            }
            self.save()
            self.tellVersions()
        }
    }

    private func tellVersions() { tell(versions.record.bytes) }

    func goBackWhenDue() {
        guard let old = facts.revertsTo, let at = facts.revertsAt else { return }
        world.at(max(world.now, at)) { [weak self] in
            guard let self, self.facts.revertsTo == old else { return }
            self.facts.revertsTo = nil
            self.facts.version = old
            self.restart(as: .application, after: self.plan.restartTime)
        }
    }

    // MARK: The "ongoing" status

    var flapPeriod: Duration {
        for fault in plan.faults {
            if case .flap(_, let period) = fault.kind { return period }
        }
        return .seconds(6)
    }

    var isOngoing: Bool {
        guard let until = facts.ongoingUntil, world.now < until else { return false }
        let left = world.now.duration(to: until).nanoseconds
        return left / (flapPeriod.nanoseconds / 2) % 2 == 0
    }

    /// Notifies the central each time the status changes.
    func flap(until: Moment) {
        guard world.now < until else { return }
        world.after(flapPeriod / 2) { [weak self] in
            guard let self, self.facts.ongoingUntil == until else { return }
            self.tellVersions()
            self.flap(until: until)
        }
    }
}
