package import Domain
import Modules
import Protocols
package import Radio
package import Simulation
import Wire

/// A simulated device of family `nordic`: its application, its bootloader of either kind, and its
/// faults.
package final class NordicModule: AirDevice {
    private let world: World
    private let plan: NordicPlan
    private let profile: Profile
    private let slot: DepotSlot?
    private var facts: NordicFacts
    private var legacy = LegacyDFUTarget()
    private var secure: SecureDFUTarget<ModuleMemory>
    private var link: AirLink?
    private var isSilent = false
    private var saveIsSet = false
    private var notifications = 0
    /// Answers wait until the flash is ready.
    private var busyUntil = Moment(nanoseconds: 0)
    /// Number of writes and reads so far: a fault can be scheduled for one of them.
    package private(set) var exchanges = 0
    /// Counts restarts: actions that were scheduled before a restart do not run after it.
    private var era = 0

    init(plan: NordicPlan, world: World, slot: DepotSlot?, imageCapacity: Int) {
        self.plan = plan
        self.world = world
        self.slot = slot
        profile = plan.profile ?? Self.profile(for: plan.bootloader)
        let saved = slot.flatMap { $0.facts() }.flatMap { NordicFacts($0) }
        if let saved, saved.baseline == NordicFacts.baseline(of: plan),
            saved.faultCounts.count == plan.faults.count
        {
            facts = saved
        } else {
            facts = NordicFacts(plan: plan)
        }
        var rules = SecureDFUTarget<ModuleMemory>.Rules()
        let refuses = plan.faults.contains { $0.kind == .refusesInit }
        rules.judge = { _, _ in refuses ? .result(.invalidObject) : nil }
        secure = SecureDFUTarget(
            rules: rules,
            facts: TransferFacts(),
            memory: .volatile(VolatileMemory(capacity: imageCapacity)),
            sha256: ReceivedImage.digest
        )
        if refuses {
            var strict = LegacyDFUTarget.Rules()
            strict.deviceType = 0x0053
            legacy = LegacyDFUTarget(rules: strict)
        }
        if let wakes = facts.wakes { world.at(wakes) { [weak self] in self?.start() } }
    }

    private static func profile(for bootloader: NordicPlan.Bootloader) -> Profile {
        let name = bootloader == .legacy ? "legacy" : Profile.generic
        guard let profile = ProfileLibrary.shipped.profile(name, of: .nordic) else {
            preconditionFailure("the family's profiles are shipped")
        }
        return profile
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    package private(set) lazy var dress: AirDress? = plan.profile.map {
        AirDress(
            $0,
            serial: plan.serial,
            moved: ProfileShape.nordic.moved(by: $0.gatt),
            bootloader: bootloaderService
        )
    }

    /// The version after an update: for tests, not visible over the air.
    package var runningVersion: FirmwareVersion { facts.version }
    package var isInBootloader: Bool { facts.mode == .bootloader && facts.wakes == nil }

    private var isLegacy: Bool { plan.bootloader == .legacy }
    private var bootloaderService: GATTUUID {
        isLegacy ? LegacyNumbers.service : DFUNumbers.service
    }

    // MARK: On the air

    package var broadcast: Broadcast? {
        guard link == nil, !isSilent, facts.wakes == nil, facts.mode != .dead,
            let signal = plan.signal
        else { return nil }
        var broadcast = Broadcast(address: address)
        broadcast.signal = signal
        guard facts.mode == .application else {
            broadcast.name = bootloaderName
            broadcast.services = [bootloaderService]
            broadcast.interval = .milliseconds(25)
            return broadcast
        }
        // The generic profiles recognise a device by its service; other profiles state how.
        if plan.profile == nil { broadcast.services = [bootloaderService] }
        broadcast.name = plan.name
        broadcast.interval = plan.advertisingInterval
        return broadcast
    }

    private var bootloaderName: String {
        if isLegacy { return "AdaDFU" }
        return facts.bootloaderName.isEmpty
            ? "DfuTarg" : String(decoding: facts.bootloaderName, as: UTF8.self)
    }

    /// The last byte of an application's address is even, so that no bootloader has the address of
    /// the next device.
    private var address: String {
        let isNext = facts.mode == .bootloader && !plan.keepsAddress
        var bytes: [UInt8]
        if let own = Hex.bytes(plan.serial.text.filter { $0 != ":" }), own.count == 6 {
            bytes = own
        } else {
            let number = UInt64(CRC32.of(Array(plan.serial.text.utf8))) << 1
            bytes = [0xC4] + number.bigBytes.suffix(5)
        }
        if isNext { bytes[5] &+= 1 }
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }

    package func acceptsConnection() -> Bool { !happens { $0 == .connectFails } }

    package var characteristics: [Characteristic: CharacteristicFlags] {
        switch (facts.mode, isLegacy) {
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
        case (.bootloader, false):
            [
                DFUNumbers.controlPoint: [.write, .notify],
                DFUNumbers.packet: [.writeWithoutResponse],
            ]
        }
    }

    private var information: [Characteristic: CharacteristicFlags] {
        [
            DeviceInformation.firmwareRevision: [.read],
            DeviceInformation.softwareRevision: [.read],
            DeviceInformation.model: [.read],
        ]
    }

    package func linkMade(_ link: AirLink) { self.link = link }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        legacy.notificationsSwitched(on: false)
        secure.linkClosed()
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        exchange {
            switch characteristic {
            case DeviceInformation.firmwareRevision, DeviceInformation.softwareRevision:
                .success(Array(facts.version.description.utf8))
            case DeviceInformation.model: .success(Array((plan.model ?? "nRF52").utf8))
            case LegacyNumbers.version:
                .success(facts.mode == .application ? [1, 0] : [8, 0])
            default: .failure(.readNotPermitted)
            }
        }
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        if characteristic == LegacyNumbers.controlPoint { legacy.notificationsSwitched(on: on) }
        if characteristic == DFUNumbers.controlPoint { secure.notificationsSwitched(on: on) }
        return nil
    }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        exchange { take(bytes, on: characteristic) }
    }

    private func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        switch characteristic {
        case DFUNumbers.buttonless: return buttonless(bytes)
        case LegacyNumbers.controlPoint where facts.mode == .application:
            guard bytes.first == 1 else { return nil }
            if !happens({ $0 == .ignoresEntry }) { restart(as: .bootloader, after: .seconds(1)) }
            return nil
        case LegacyNumbers.controlPoint:
            guard let actions = legacy.controlPointWritten(bytes) else {
                return .improperlyConfigured
            }
            perform(actions)
            return nil
        case LegacyNumbers.packet:
            let before = legacy.received
            if happens({ $0 == .packetLost(at: before) }) { return nil }
            perform(legacy.packetWritten(bytes))
            strike(legacy.received)
            return nil
        case DFUNumbers.controlPoint:
            guard let actions = secure.controlPointWritten(bytes) else {
                return .improperlyConfigured
            }
            perform(actions)
            return nil
        case DFUNumbers.packet:
            let before = secure.facts.received
            if happens({ $0 == .packetLost(at: before) }) { return nil }
            perform(secure.packetWritten(bytes))
            strike(secure.facts.received)
            return nil
        default: return .writeNotPermitted
        }
    }

    private func buttonless(_ bytes: [UInt8]) -> ATTError? {
        var (operation, result) = (bytes.first ?? 0, ButtonlessResponse.Result.success)
        var enters = false
        do throws(ButtonlessRefusal) {
            switch try ButtonlessOrder(bytes) {
            case .enterBootloader:
                enters = !happens { $0 == .ignoresEntry }
                if !enters { result = .busy }
            case .setName(let name):
                facts.bootloaderName = name
                save()
            }
        } catch { (operation, result) = (error.operation, error.result) }
        let answer = ButtonlessResponse(operation: operation, result: result).bytes
        link?.indicate(answer, on: DFUNumbers.buttonless) { [weak self] in
            guard let self, enters else { return }
            self.restart(as: .bootloader, after: .milliseconds(300))
        }
        return nil
    }

    // MARK: Transfers

    private func perform(_ actions: [LegacyDFUTarget.Action]) {
        for action in actions {
            switch action {
            case .notify(let bytes): notify(bytes, on: LegacyNumbers.controlPoint)
            case .erase(let count):
                facts.isErased = true
                busy(for: plan.eraseTime * ((count + 4_095) / 4_096))
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
            case .erase: busy(for: plan.eraseTime)
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

    private func busy(for time: Duration) {
        busyUntil = max(busyUntil, world.now).advanced(by: time)
    }

    private func notify(_ bytes: [UInt8], on characteristic: Characteristic) {
        notifications += 1
        let number = notifications
        if happens({ $0 == .notificationLost(number) }) { return }
        guard busyUntil > world.now else {
            link?.notify(bytes, on: characteristic)
            return
        }
        world.at(busyUntil) { [weak link] in link?.notify(bytes, on: characteristic) }
    }

    private func activate(_ version: FirmwareVersion?, isSystem: Bool) {
        if happens({ $0 == .neverReturns }) { return restart(as: .dead, after: plan.restartTime) }
        facts.isErased = isSystem && facts.isErased
        if !isSystem, !happens({ $0 == .returnsUnchanged }) {
            facts.version = version ?? facts.version
        }
        // A system part leaves no application: the bootloader waits for one.
        restart(
            as: isSystem ? .bootloader : .application,
            after: plan.activationTime + plan.restartTime
        )
    }

    // MARK: Restarts and faults

    private func restart(as mode: ModuleFacts.Mode, after delay: Duration) {
        // Without an application only the bootloader can start.
        facts.mode = mode == .application && facts.isErased ? .bootloader : mode
        facts.wakes = world.now.advanced(by: delay)
        if facts.mode == .application { facts.bootloaderName = [] }
        legacy.restarted()
        if facts.mode == .application { secure.progressLost() } else { secure.reset() }
        era += 1
        save()
        // Data that is already queued for the central still arrives with the next connection event.
        world.after(plan.link.interval * 2) { [weak self, link] in
            link?.drop()
            self?.save()
        }
        world.after(delay) { [weak self] in self?.start() }
    }

    private func start() {
        guard let wakes = facts.wakes, wakes <= world.now else { return }
        facts.wakes = nil
        save()
        world.advertisingChanged(self)
        watch(era)
    }

    /// A bootloader that hears from no client returns to the application, if there is one.
    private func watch(_ era: Int) {
        guard facts.mode == .bootloader, !facts.isErased else { return }
        world.after(.seconds(120)) { [weak self] in
            guard let self, self.era == era, self.isInBootloader else { return }
            self.link == nil
                ? self.restart(as: .application, after: self.plan.restartTime) : self.watch(era)
        }
    }

    private func exchange<R>(_ body: () -> R) -> R {
        exchanges += 1
        let number = exchanges
        if let kind = breakDue(at: number, isBefore: true) { breakOff(kind) }
        let result = body()
        if let kind = breakDue(at: number, isBefore: false) { breakOff(kind) }
        return result
    }

    private func breakDue(at number: Int, isBefore: Bool) -> ModulePlan.Break? {
        strike { if case .breaks(let kind, number, isBefore) = $0 { kind } else { nil } }
    }

    private func breakOff(_ kind: ModulePlan.Break) {
        switch kind {
        case .linkLost: link?.drop()
        case .silence:
            isSilent = true
            link?.fallSilent()
            world.after(plan.link.supervisionTimeout * 2) { [weak self] in
                guard let self else { return }
                self.isSilent = false
                self.world.advertisingChanged(self)
            }
        case .restart:
            link?.drop()
            restart(as: facts.mode, after: plan.restartTime)
        }
    }

    private func strike(_ received: Int) {
        let kind: ModulePlan.Break? = strike {
            switch $0 {
            case .linkLost(let at) where received >= at: .linkLost
            case .silent(let at) where received >= at: .silence
            case .restart(let at) where received >= at: .restart
            case .linkLost, .silent, .restart, .breaks, .packetLost, .notificationLost,
                .refusesInit, .ignoresEntry, .returnsUnchanged, .neverReturns, .connectFails:
                nil
            }
        }
        if let kind { breakOff(kind) }
    }

    /// Saves once for everything that happens at this moment.
    func save() {
        guard slot != nil, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            self.slot?.save(self.facts.bytes, at: self.world.now)
        }
    }
}

extension NordicPlan.Fault: ScriptedFault {}

extension NordicModule: FaultyModule {
    var scriptedFaults: [NordicPlan.Fault] { plan.faults }

    var faultCounts: [UInt8] {
        get { facts.faultCounts }
        set { facts.faultCounts = newValue }
    }
}

extension World {
    /// Adds a Nordic device whose state ends with the process.
    package func addNordic(_ plan: NordicPlan, imageCapacity: Int = 1 << 20) {
        add(NordicModule(plan: plan, world: self, slot: nil, imageCapacity: imageCapacity))
    }

    package var nordicModules: [NordicModule] { devices.compactMap { $0 as? NordicModule } }
}
