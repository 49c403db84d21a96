package import Domain
import Modules
import Protocols
package import Radio
package import Simulation
import Wire

/// A simulated ESP device: its application with the OTA service, and its faults.
package final class ESPModule: AirDevice {
    private let world: World
    private let plan: ESPPlan
    private let slot: DepotSlot?
    private var facts: ESPFacts
    private var target: ESPTarget
    private var link: AirLink?
    private var isSilent = false
    private var saveIsSet = false
    private var acks = 0
    private var busyUntil = Moment(nanoseconds: 0)
    /// Number of writes and reads so far: a fault can be scheduled for one of them.
    package private(set) var exchanges = 0

    init(plan: ESPPlan, world: World, slot: DepotSlot?) {
        self.plan = plan
        self.world = world
        self.slot = slot
        target = ESPTarget(server: plan.server)
        let saved = slot.flatMap { $0.facts() }.flatMap { ESPFacts($0) }
        if let saved, saved.baseline == ESPFacts.baseline(of: plan),
            saved.faultCounts.count == plan.faults.count
        {
            facts = saved
        } else {
            facts = ESPFacts(plan: plan)
        }
        if let wakes = facts.wakes { world.at(wakes) { [weak self] in self?.start() } }
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    package private(set) lazy var dress: AirDress? = plan.profile.map {
        AirDress($0, serial: plan.serial, moved: ProfileShape.esp.moved(by: $0.gatt))
    }

    /// The version after an update: for tests, not visible over the air.
    package var runningVersion: FirmwareVersion { facts.version }

    // MARK: On the air

    package var broadcast: Broadcast? {
        guard link == nil, !isSilent, facts.wakes == nil, !facts.isDead, let signal = plan.signal
        else { return nil }
        var broadcast = Broadcast(address: address)
        broadcast.name = plan.name
        broadcast.services = [ESPNumbers.service]
        broadcast.interval = plan.advertisingInterval
        broadcast.signal = signal
        return broadcast
    }

    private var address: String {
        let own = Hex.bytes(plan.serial.text.filter { $0 != ":" })
        let number = UInt64(CRC32.of(Array(plan.serial.text.utf8))) << 8
        let bytes = own?.count == 6 ? own ?? [] : [0xE5] + number.bigBytes.suffix(5)
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }

    package func acceptsConnection() -> Bool { !happens { $0 == .connectFails } }

    package var characteristics: [Characteristic: CharacteristicFlags] {
        let data: CharacteristicFlags =
            plan.server == .raw ? [.write, .writeWithoutResponse, .notify] : [.write, .indicate]
        return [
            versionPlace: [.read], ESPNumbers.firmware: data,
            ESPNumbers.command: [.write, plan.server == .raw ? .notify : .indicate],
        ]
    }

    /// The characteristic that holds its version, as the profile names it.
    private var versionPlace: Characteristic {
        guard case .information(let short) = plan.profile?.target(of: .secondary)?.version else {
            return DeviceInformation.firmwareRevision
        }
        return DeviceInformation.characteristic(short)
    }

    package func linkMade(_ link: AirLink) { self.link = link }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        exchange {
            characteristic == versionPlace
                // As in the maker's example: a C string with its terminating zero.
                ? .success(Array(facts.version.description.utf8) + [0])
                : .failure(.readNotPermitted)
        }
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? { nil }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        exchange { take(bytes, on: characteristic) }
    }

    private func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        switch characteristic {
        case ESPNumbers.command:
            if case .start? = try? ESPCommand(bytes), happens({ $0 == .refusesStart }) {
                let word = ESPCommand.acknowledge(command: 1, isAccepted: false, window: 0)
                tell(word.bytes, on: ESPNumbers.command)
                return nil
            }
            return perform(target.commanded(bytes))
        case ESPNumbers.firmware:
            let before = target.image.count
            let error = perform(target.packetWritten(bytes))
            if target.image.count > before { strike(target.image.count) }
            return error
        default: return .writeNotPermitted
        }
    }

    private func perform(_ actions: [ESPTarget.Action]) -> ATTError? {
        var error: ATTError?
        for action in actions {
            switch action {
            case .acknowledge(let bytes):
                acks += 1
                let number = acks
                if happens({ $0 == .ackLost(number) }) { continue }
                tell(bytes, on: ESPNumbers.firmware)
            case .answer(let bytes): tell(bytes, on: ESPNumbers.command)
            case .erase(let count):
                let pages = (count + ESPNumbers.sectorLength - 1) / ESPNumbers.sectorLength
                busyUntil = max(busyUntil, world.now).advanced(by: plan.eraseTime * pages)
            // ATT error 0x0E: the value is not allowed.
            case .refuse: error = ATTError(rawValue: 0x0E)
            case .complete: complete()
            }
        }
        return error
    }

    private func tell(_ bytes: [UInt8], on characteristic: Characteristic) {
        guard busyUntil > world.now else {
            link?.notify(bytes, on: characteristic)
            return
        }
        world.at(busyUntil) { [weak link] in link?.notify(bytes, on: characteristic) }
    }

    /// Checks the image as the device's own library does.
    ///
    /// Failures are not reported to the central.
    private func complete() {
        guard let image = try? ESPImage(target.image), image.chip == plan.chip,
            let version = FirmwareVersion(image.version), !happens({ $0 == .failsSilently })
        else { return }
        if happens({ $0 == .neverReturns }) {
            facts.isDead = true
        } else if happens({ $0 == .rollsBack }) {
            let old = facts.version
            world.after(plan.restartTime + .seconds(12)) { [weak self] in
                guard let self else { return }
                self.facts.version = old
                self.restart()
            }
        }
        facts.version = version
        restart()
    }

    // MARK: Restarts and faults

    /// It loses what it has of an image, and its links.
    package func restart() {
        facts.wakes = world.now.advanced(by: plan.restartTime)
        target.restarted()
        save()
        // Data that is already queued for the central still arrives with the next connection event.
        world.after(plan.link.interval * 2) { [weak self, link] in
            link?.drop()
            self?.save()
        }
        world.after(plan.restartTime) { [weak self] in self?.start() }
    }

    private func start() {
        guard let wakes = facts.wakes, wakes <= world.now else { return }
        facts.wakes = nil
        save()
        world.advertisingChanged(self)
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
            restart()
        }
    }

    private func strike(_ received: Int) {
        let kind: ModulePlan.Break? = strike {
            switch $0 {
            case .linkLost(let at) where received >= at: .linkLost
            case .silent(let at) where received >= at: .silence
            case .restart(let at) where received >= at: .restart
            case .linkLost, .silent, .restart, .breaks, .ackLost, .refusesStart, .failsSilently,
                .rollsBack, .neverReturns, .connectFails:
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

extension ESPPlan.Fault: ScriptedFault {}

extension ESPModule: FaultyModule {
    var scriptedFaults: [ESPPlan.Fault] { plan.faults }

    package var faultCounts: [UInt8] {
        get { facts.faultCounts }
        set { facts.faultCounts = newValue }
    }
}

extension World {
    /// Adds an ESP device whose state ends with the process.
    package func addESP(_ plan: ESPPlan) {
        add(ESPModule(plan: plan, world: self, slot: nil))
    }

    package var espModules: [ESPModule] { devices.compactMap { $0 as? ESPModule } }
}
