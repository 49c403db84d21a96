package import Base
package import Radio
package import Simulation

/// The facts that a simulated Nordic device keeps.
package struct NordicFacts: FlashFacts {
    var version: FirmwareVersion
    /// Whether its bootloader erased the application: only an image then restores it.
    var isErased = false

    package mutating func keep(in fields: inout FlashFields) {
        fields.keep(&version)
        fields.keep(&isErased)
    }
}

/// A simulated device of family `nordic`: its application, its bootloader of either kind, and its
/// faults.
package final class NordicModule: SimulatedModule<NordicPlan, NordicFacts> {
    private var legacy: LegacyDFUTarget
    private var secure: SecureDFUTarget<ModuleMemory>

    init(_ plan: NordicPlan, _ place: ModulePlace) {
        let refuses = plan.faults.contains { $0.kind == .refusesInit }
        var rules = SecureDFUTarget<ModuleMemory>.Rules()
        rules.judge = { _, _ in refuses ? .result(.invalidObject) : nil }
        secure = SecureDFUTarget(rules: rules, memory: place.volatileMemory)
        var strict = LegacyDFUTarget.Rules()
        if refuses { strict.deviceType = 0x0053 }
        legacy = LegacyDFUTarget(rules: strict)
        super.init(plan, place, NordicFacts(version: plan.version))
    }

    /// The version after an update: for tests, not visible over the air.
    package var runningVersion: FirmwareVersion { facts.version }

    private var isLegacy: Bool { plan.bootloader == .legacy }
    private var received: Int { isLegacy ? legacy.received : secure.facts.received }

    // MARK: On the air

    override func describe(_ broadcast: inout Broadcast) {
        // The generic profiles recognise a device by its service; other profiles state how.
        if plan.profile == nil { broadcast.services = plan.bootloaderServices }
        broadcast.name = plan.name
    }

    override var bootloaderName: String { isLegacy ? "AdaDFU" : super.bootloaderName }

    /// The last byte of an application's address is even, so that no bootloader has the address of
    /// the next device.
    override var address: [UInt8] {
        var bytes = plan.serial.address ?? plan.serial.address(from: 0xC4, shift: 1)
        if run.mode == .bootloader, !plan.keepsAddress { bytes[5] &+= 1 }
        return bytes
    }

    package override var characteristics: [Characteristic: CharacteristicFlags] {
        switch (run.mode, isLegacy) {
        case (.dead, _): [:]
        case (.application, true):
            information.merging([
                LegacyNumbers.controlPoint: [.write, .notify], LegacyNumbers.version: [.read],
            ]) { first, _ in first }
        case (.application, false):
            information.merging([DFUNumbers.buttonless: [.write, .indicate]]) { first, _ in first }
        case (.bootloader, true):
            [
                LegacyNumbers.controlPoint: [.write, .notify],
                LegacyNumbers.packet: [.writeWithoutResponse],
                LegacyNumbers.version: [.read],
            ]
        case (.bootloader, false): secureBootloader
        }
    }

    private var information: [Characteristic: CharacteristicFlags] {
        [
            DeviceInformation.firmwareRevision: [.read],
            DeviceInformation.softwareRevision: [.read],
            DeviceInformation.model: [.read],
        ]
    }

    package override func linkLost(_ link: AirLink) {
        legacy.notificationsSwitched(on: false)
        secure.linkClosed()
        super.linkLost(link)
    }

    override func value(of characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        switch characteristic {
        case DeviceInformation.firmwareRevision, DeviceInformation.softwareRevision:
            .success(Array(facts.version.description.utf8))
        case DeviceInformation.model: .success(Array((plan.model ?? "nRF52").utf8))
        case LegacyNumbers.version: .success(run.mode == .application ? [1, 0] : [8, 0])
        default: .failure(.readNotPermitted)
        }
    }

    package override func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        if characteristic == LegacyNumbers.controlPoint { legacy.notificationsSwitched(on: on) }
        if characteristic == DFUNumbers.controlPoint { secure.notificationsSwitched(on: on) }
        return nil
    }

    override func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        switch characteristic {
        case DFUNumbers.buttonless:
            buttonless(bytes, on: DFUNumbers.buttonless, refuses: .ignoresEntry)
            return nil
        case LegacyNumbers.controlPoint where run.mode == .application:
            guard bytes.first == 1 else { return nil }
            if !happens(.ignoresEntry) { restart(as: .bootloader, after: .seconds(1)) }
            return nil
        case LegacyNumbers.controlPoint:
            return answer(legacy.controlPointWritten(bytes)) { perform($0) }
        case DFUNumbers.controlPoint:
            return answer(secure.controlPointWritten(bytes)) { perform($0) }
        case LegacyNumbers.packet, DFUNumbers.packet:
            if happens(.packetLost(at: received)) { return nil }
            isLegacy ? perform(legacy.packetWritten(bytes)) : perform(secure.packetWritten(bytes))
            cut(at: received)
            return nil
        default: return .writeNotPermitted
        }
    }

    // MARK: Transfers

    private func perform(_ actions: [LegacyDFUTarget.Action]) {
        for action in actions {
            switch action {
            case .notify(let bytes): notify(bytes, on: LegacyNumbers.controlPoint)
            case .erase(let count):
                facts.isErased = true
                occupyFlash(plan.eraseTime * ((count + 4_095) / 4_096))
                save()
            case .reset: restart(as: .bootloader, after: plan.restartTime)
            case .activate(let packet, let type):
                let version = packet.version.map { FirmwareVersion(packed: $0) }
                activate(
                    type.contains(.application) ? version : nil,
                    isSystem: type != .application
                )
            }
        }
    }

    private func perform(_ actions: [SecureDFUAction]) {
        for action in actions {
            switch action {
            case .notify(let bytes): notify(bytes, on: DFUNumbers.controlPoint)
            case .erase: occupyFlash(plan.eraseTime)
            case .restart(let isWhole):
                guard isWhole else {
                    restart(as: .application, after: plan.restartTime)
                    continue
                }
                let packet = try? InitPacket(secure.facts.initPacket)
                secure.progressLost()
                activate(packet?.version, isSystem: packet?.type != .application)
            }
        }
    }

    private func notify(_ bytes: [UInt8], on characteristic: Characteristic) {
        if !isLost({ .notificationLost($0) }) { notifyWhenReady(bytes, on: characteristic) }
    }

    private func activate(_ version: FirmwareVersion?, isSystem: Bool) {
        if happens(.neverReturns) { return restart(as: .dead, after: plan.restartTime) }
        facts.isErased = isSystem && facts.isErased
        if !isSystem, !happens(.returnsUnchanged) {
            facts.version = version ?? facts.version
        }
        // A system part leaves no application: the bootloader waits for one.
        restart(
            as: isSystem ? .bootloader : .application,
            after: plan.activationTime + plan.restartTime
        )
    }

    // MARK: Restarts

    override func restart(as mode: RunFacts.Mode, after delay: Duration) {
        // Without an application only the bootloader can start.
        let mode = mode == .application && facts.isErased ? .bootloader : mode
        legacy.restarted()
        if mode == .application { secure.progressLost() } else { secure.reset() }
        super.restart(as: mode, after: delay)
    }

    override func started() { watch(era) }

    /// A bootloader that hears from no client returns to the application, if there is one.
    private func watch(_ era: Int) {
        guard run.mode == .bootloader, !facts.isErased else { return }
        world.after(.seconds(120)) { [weak self] in
            guard let self, self.era == era, self.isInBootloader else { return }
            self.link == nil
                ? self.restart(as: .application, after: self.plan.restartTime) : self.watch(era)
        }
    }
}
