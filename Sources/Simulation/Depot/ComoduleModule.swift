import Digests
package import Domain
package import Radio
import Wire

/// A simulated module of family `comodule`: its application, its bootloader, and its faults.
package final class ComoduleModule: AirDevice {
    /// A bootloader that nobody talks to goes back to the application.
    private static let bootloaderPatience = Duration.seconds(120)
    /// A record is in the register so long after its selection.
    private static let recordDelay = Duration.milliseconds(12)

    private let world: World
    private let plan: ModulePlan
    private let slot: DepotSlot?
    private var facts: ModuleFacts
    private var target: SecureDFUTarget<ModuleMemory>
    private var saveIsSet = false

    private var link: AirLink?
    private var isSilent = false
    private var challenge: [UInt8] = []
    private var isAuthenticated = false
    private var selected: UInt16 = 0
    private var loaded = ComoduleRecord(id: 0, data: [])
    private var loading: (record: ComoduleRecord, at: Moment)?
    private var vehicle: VehicleSettings
    /// What is kept back is told by the request itself, and asked for right after it.
    private var pause = AnswerPause.none
    private var lastSign = Moment(nanoseconds: 0)

    init(plan: ModulePlan, world: World, slot: DepotSlot?, imageCapacity: Int) {
        self.plan = plan
        vehicle = plan.vehicle
        vehicle.key = plan.key
        self.world = world
        self.slot = slot
        let saved = slot.flatMap { $0.facts() }.flatMap { ModuleFacts($0) }
        if let saved, saved.baseline == ModuleFacts.baseline(of: plan) {
            facts = saved
            if let kept = saved.vehicle { vehicle = kept }
            let missing = plan.faults.count - facts.faultCounts.count
            facts.faultCounts += [UInt8](repeating: 0, count: max(0, missing))
        } else {
            facts = ModuleFacts(plan: plan)
        }
        let memory: ModuleMemory =
            slot.map { .slot($0) } ?? .volatile(VolatileMemory(capacity: imageCapacity))
        var rules = SecureDFUTarget<ModuleMemory>.Rules()
        let refuses = plan.faults.contains { $0.kind == .refuseInit }
        if refuses { rules.judge = { _, _ in .result(.invalidObject) } }
        target = SecureDFUTarget(
            rules: rules,
            facts: facts.transfer,
            memory: memory,
            sha256: SHA256.digest
        )
        if let wakes = facts.wakes { world.at(wakes) { [weak self] in self?.start() } }
        if facts.mode == .bootloader { watchBootloader() }
        if let until = facts.ongoingUntil, until > world.now { flap(until: until) }
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    /// What an update has made of it: for tests, not for the air.
    package var runningVersion: FirmwareVersion { facts.version }
    package var isInBootloader: Bool { facts.mode == .bootloader && facts.wakes == nil }
    package var receivedBytes: Int { target.facts.received }

    // MARK: On the air

    package var broadcast: Broadcast? {
        guard link == nil, !isSilent, facts.wakes == nil, facts.mode != .dead,
            let signal = plan.signal
        else { return nil }
        let state = BroadcastState(
            mode: facts.mode,
            generation: facts.addressGeneration,
            name: facts.bootloaderName
        )
        if let made, made.state == state { return made.broadcast }
        let broadcast =
            facts.mode == .bootloader ? bootloaderBroadcast(signal) : applicationBroadcast(signal)
        made = (state, broadcast)
        return broadcast
    }

    /// What a broadcast is made of.
    private struct BroadcastState: Equatable {
        let mode: ModuleFacts.Mode
        let generation: UInt8
        let name: [UInt8]
    }

    /// The broadcast made last: it is asked for at every advertisement.
    private var made: (state: BroadcastState, broadcast: Broadcast)?

    private func applicationBroadcast(_ signal: Int) -> Broadcast {
        var broadcast = Broadcast(address: address(bootloader: false))
        broadcast.name = plan.name
        broadcast.manufacturerData = [
            ComoduleNumbers.company: Hex.bytes(plan.serial.text) ?? []
        ]
        broadcast.interval = plan.advertisingInterval
        broadcast.signal = signal
        return broadcast
    }

    private func bootloaderBroadcast(_ signal: Int) -> Broadcast {
        var broadcast = Broadcast(address: address(bootloader: true))
        broadcast.name =
            facts.bootloaderName.isEmpty
            ? "DfuTarg" : String(decoding: facts.bootloaderName, as: UTF8.self)
        broadcast.services = [DFUNumbers.service]
        broadcast.interval = .milliseconds(25)
        broadcast.signal = signal
        return broadcast
    }

    /// The bootloader's address is the application's with one more in its last byte.
    ///
    /// An application's last byte is even, so that no bootloader has its neighbour's address.
    private func address(bootloader: Bool) -> String {
        let number = (UInt64(plan.serial.text, radix: 16) ?? 0) &<< 1 | (bootloader ? 1 : 0)
        let bytes = [0xC0 | facts.addressGeneration & 0x3F] + number.bigBytes.suffix(5)
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }

    package func acceptsConnection() -> Bool { !happens { $0 == .connectFails } }

    package var characteristics: [Characteristic: CharacteristicFlags] {
        let lacking = plan.faults.compactMap { fault -> UInt16? in
            guard case .lacks(let short) = fault.kind else { return nil }
            return short
        }
        return everyCharacteristic.filter { entry in
            !lacking.contains { ComoduleNumbers.stands($0, for: entry.key) }
        }
    }

    private var everyCharacteristic: [Characteristic: CharacteristicFlags] {
        switch facts.mode {
        case .application:
            [
                ComoduleNumbers.notifier: [.read, .notify],
                ComoduleNumbers.register: [.read, .write],
                ComoduleNumbers.selector: [.read, .write],
                ComoduleNumbers.key: [.write],
                ComoduleNumbers.challenge: [.read],
                ComoduleNumbers.response: [.write],
                ComoduleNumbers.authenticated: [.read],
                ComoduleNumbers.manufacturerName: [.read],
                ComoduleNumbers.firmwareRevision: [.read],
                ComoduleNumbers.hardwareRevision: [.read],
                ComoduleNumbers.softwareRevision: [.read],
                DFUNumbers.buttonless: [.write, .indicate],
            ]
        case .bootloader:
            [
                DFUNumbers.controlPoint: [.write, .notify],
                DFUNumbers.packet: [.writeWithoutResponse],
            ]
        case .dead: [:]
        }
    }

    package func linkMade(_ link: AirLink) {
        self.link = link
        lastSign = world.now
        isAuthenticated = false
        challenge = (0..<20).map { _ in UInt8(truncatingIfNeeded: world.random.next()) }
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            guard case .linkLostAfter(let time) = fault.kind else { continue }
            count(index)
            world.after(time) { [weak link] in link?.drop() }
            break
        }
        beginStorm(on: link)
    }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        lastSign = world.now
        target.linkClosed()
        save()
        world.advertisingChanged(self)
    }

    package func takePause() -> AnswerPause {
        defer { pause = .none }
        return pause
    }

    /// Does what the script says about being asked this; an error that the module then gives.
    private func meet(_ exchange: ModulePlan.Exchange) -> ATTError? {
        for fault in plan.faults {
            switch fault.kind {
            case .slow(let time): pause = .lasting(time)
            case .refuseBond where exchange != .information: return .insufficientAuthentication
            default: continue
            }
        }
        if happens({ $0 == .silentIn(exchange) }) { pause = .forever }
        if happens({ $0 == .linkLostIn(exchange) }) { link?.drop() }
        return nil
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        if let exchange = ComoduleNumbers.exchange(characteristic, isRead: true),
            let error = meet(exchange)
        {
            return .failure(error)
        }
        switch characteristic {
        case ComoduleNumbers.challenge: return .success(challenge)
        case ComoduleNumbers.authenticated: return .success([isAuthenticated ? 1 : 0])
        case ComoduleNumbers.manufacturerName: return .success(Array("COMODULE".utf8))
        case ComoduleNumbers.firmwareRevision, ComoduleNumbers.softwareRevision:
            return .success(Array(facts.version.description.utf8))
        case ComoduleNumbers.hardwareRevision:
            return .success(Array(String(plan.firmwareType).utf8))
        case ComoduleNumbers.register, ComoduleNumbers.notifier, ComoduleNumbers.selector:
            guard isAuthenticated else { return .failure(.insufficientAuthorization) }
            if characteristic == ComoduleNumbers.selector { return .success(selected.bigBytes) }
            loadRecord()
            if happens({ $0 == .garbage }) { return .success([0xDE, 0xAD, 0x00]) }
            if happens({ $0 == .wrongRecord }) {
                return .success(ComoduleRecord(id: ~loaded.id, data: loaded.data).bytes)
            }
            return .success(loaded.bytes)
        default:
            return .failure(.readNotPermitted)
        }
    }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        lastSign = world.now
        if let exchange = ComoduleNumbers.exchange(characteristic, isRead: false),
            let error = meet(exchange)
        {
            return error
        }
        switch characteristic {
        case ComoduleNumbers.response: return answered(bytes)
        case ComoduleNumbers.key: return changeKey(bytes)
        case ComoduleNumbers.register: return command(bytes)
        case ComoduleNumbers.selector: return select(bytes)
        case DFUNumbers.buttonless: return buttonless(bytes)
        case DFUNumbers.controlPoint:
            guard let actions = target.controlPointWritten(bytes) else {
                return .improperlyConfigured
            }
            perform(actions)
            return nil
        case DFUNumbers.packet:
            packet(bytes)
            return nil
        default:
            return .writeNotPermitted
        }
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        if characteristic == ComoduleNumbers.notifier {
            if let error = meet(.notifier) { return error }
            guard isAuthenticated else { return .insufficientAuthorization }
        }
        if characteristic == DFUNumbers.controlPoint { target.notificationsSwitched(on: on) }
        return nil
    }

    // MARK: Authentication and registers

    private func answered(_ response: [UInt8]) -> ATTError? {
        guard response == SHA1.digest(of: challenge + vehicle.key),
            !happens({ $0 == .refuseKey })
        else {
            link?.drop()
            return nil
        }
        isAuthenticated = true
        return nil
    }

    /// Takes another key: in memory at once, in flash a while later.
    private func changeKey(_ bytes: [UInt8]) -> ATTError? {
        guard isAuthenticated else { return .insufficientAuthorization }
        guard bytes.count == 20 else { return .invalidLength }
        guard !happens({ $0 == .refuseKeyChange }) else { return nil }
        vehicle.key = bytes
        world.after(.seconds(2)) { [weak self] in self?.keep() }
        return nil
    }

    /// Puts into flash what the vehicle is set to.
    private func keep() {
        facts.vehicle = vehicle
        save()
    }

    private func select(_ bytes: [UInt8]) -> ATTError? {
        guard isAuthenticated else { return .insufficientAuthorization }
        guard bytes.count == 2 else { return .invalidLength }
        loadRecord()
        selected = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        // An identifier that is unknown leaves the older record where it is.
        loading = record(selected).map { ($0, world.now.advanced(by: Self.recordDelay)) }
        return nil
    }

    private func loadRecord() {
        guard let loading, loading.at <= world.now else { return }
        // The value is the one of now, not of when it was selected.
        loaded = record(loading.record.id) ?? loading.record
        self.loading = nil
    }

    private func record(_ id: UInt16) -> ComoduleRecord? {
        switch id {
        case VersionsRecord.id: versions.record
        case PowerRecord.id:
            vehicle.power(stateOfCharge: plan.stateOfCharge)
        case MotionRecord.id:
            MotionRecord(speedTenths: vehicle.stormSpeed ?? plan.speedTenths).record
        default: vehicle.record(id)
        }
    }

    private var versions: VersionsRecord {
        VersionsRecord(
            primary: facts.primaryVersion,
            variant: plan.firmwareVariant,
            handoff: isOngoing ? 1 : 0
        )
    }

    private func command(_ bytes: [UInt8]) -> ATTError? {
        guard let record = ComoduleRecord(bytes) else { return .invalidLength }
        if PreflightRecord(record) != nil { return nil }
        guard isAuthenticated else { return .insufficientAuthorization }
        if happens({ $0 == .ignoresWrites }) { return nil }
        for id in vehicle.take(record) { self.record(id).map { tell($0.bytes) } }
        keep()
        return nil
    }

    /// Tells the central of a record that has changed.
    private func tell(_ bytes: [UInt8]) {
        guard isAuthenticated else { return }
        link?.notify(bytes, on: ComoduleNumbers.notifier)
    }

    /// Sets the vehicle to something by its own hand, as when somebody turns a knob.
    package func set(_ change: (inout VehicleSettings) -> Void) {
        change(&vehicle)
        for id in VehicleSettings.records { record(id).map { tell($0.bytes) } }
        keep()
    }

    /// What the vehicle is set to: for tests, not for the air.
    package var settings: VehicleSettings { vehicle }

    // MARK: Storms

    /// Tells of its speed as often as the script says, for as long as the link is up.
    private func beginStorm(on link: AirLink) {
        for fault in plan.faults {
            guard case .storm(let rate) = fault.kind, rate > 0 else { continue }
            storm(every: .seconds(1) / rate, on: link)
        }
    }

    private func storm(every period: Duration, on link: AirLink) {
        world.after(period) { [weak self, weak link] in
            guard let self, let link, self.link === link else { return }
            self.vehicle.stormSpeed = (self.vehicle.stormSpeed ?? 0) &+ 1
            // A controller takes only so much: what comes meanwhile is made up for by the next.
            if self.isAuthenticated, link.backlog < 64 {
                if self.happens({ $0 == .garbage }) { self.tell([0xBA, 0xD0]) }
                self.record(MotionRecord.id).map { self.tell($0.bytes) }
            }
            self.storm(every: period, on: link)
        }
    }

    // MARK: Into the bootloader

    private func buttonless(_ bytes: [UInt8]) -> ATTError? {
        guard let operation = bytes.first else { return .invalidLength }
        var result = ButtonlessResponse.Result.success
        var enters = false
        switch operation {
        case 0x01:
            enters = !happens { $0 == .refuseBootloader }
            if !enters { result = .busy }
        case 0x02:
            if bytes.count >= 3, Int(bytes[1]) == bytes.count - 2, bytes.count <= 22 {
                facts.bootloaderName = Array(bytes[2...])
                save()
            } else {
                result = .badName
            }
        default: result = .notSupported
        }
        let answer = ButtonlessResponse(operation: operation, result: result).bytes
        link?.indicate(answer, on: DFUNumbers.buttonless) { [weak self] in
            guard let self, enters else { return }
            self.restart(as: .bootloader, after: .milliseconds(300))
        }
        return nil
    }

    /// Goes back to the application when nobody talks to the bootloader for long.
    private func watchBootloader() {
        let patience = Self.bootloaderPatience
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

    private func packet(_ bytes: [UInt8]) {
        let before = target.facts.received
        perform(target.packetWritten(bytes))
        save()
        let received = target.facts.received
        guard received > before else { return }
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            switch fault.kind {
            case .linkLost(let at) where received >= at:
                count(index)
                link?.drop()
            case .silent(let at) where received >= at:
                count(index)
                fallSilent()
            case .restart(let at) where received >= at:
                count(index)
                // A reset: nothing that is on its way is sent any more.
                link?.drop()
                restart(as: .bootloader, after: plan.restartTime)
            default: continue
            }
            return
        }
    }

    private func fallSilent() {
        isSilent = true
        link?.fallSilent()
        world.after(plan.link.supervisionTimeout * 2) { [weak self] in
            guard let self else { return }
            self.isSilent = false
            self.world.advertisingChanged(self)
        }
    }

    private func perform(_ actions: [SecureDFUTarget<ModuleMemory>.Action]) {
        save()
        var delay = Duration.zero
        for action in actions {
            switch action {
            case .erase:
                delay += plan.eraseTime
            case .notify(let bytes):
                notify(bytes, after: delay)
            case .restart(let activate):
                activate ? self.activate() : restart(as: .application, after: plan.restartTime)
            }
        }
    }

    private func notify(_ bytes: [UInt8], after delay: Duration) {
        guard delay > .zero else {
            link?.notify(bytes, on: DFUNumbers.controlPoint)
            return
        }
        world.after(delay) { [weak link] in link?.notify(bytes, on: DFUNumbers.controlPoint) }
    }

    /// The image is whole: put it in place and start it, or do what the script says.
    private func activate() {
        let image = target.facts
        target.progressLost()
        if happens({ $0 == .neverReturn }) {
            restart(as: .dead, after: plan.restartTime)
            return
        }
        let unchanged = happens { $0 == .returnUnchanged }
        if !unchanged, let packet = try? InitPacket(image.initPacket) {
            facts.version =
                packet.firmwareVersion.map { FirmwareVersion(packed: $0) } ?? facts.version
        }
        if happens({ $0 == .addressChanges }) { facts.addressGeneration &+= 1 }
        let back = world.now.advanced(by: plan.activationTime + plan.restartTime)
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            if case .flap(let total, _) = fault.kind {
                count(index)
                facts.ongoingUntil = back.advanced(by: total)
            }
        }
        restart(as: .application, after: plan.activationTime + plan.restartTime)
    }

    // MARK: Restarts

    private func restart(as mode: ModuleFacts.Mode, after delay: Duration) {
        facts.mode = mode
        facts.wakes = world.now.advanced(by: delay)
        if mode == .application || !plan.keepsProgress { target.progressLost() }
        if mode == .application { facts.bootloaderName = [] }
        save()
        // What is on its way to the central still arrives with the next connection event.
        world.after(plan.link.interval * 2) { [weak self, link] in
            link?.drop()
            self?.save()
        }
        world.after(delay) { [weak self] in self?.start() }
    }

    private func start() {
        guard let wakes = facts.wakes, wakes <= world.now else { return }
        facts.wakes = nil
        facts.bootCount &+= 1
        lastSign = world.now
        save()
        guard facts.mode != .dead else { return }
        world.advertisingChanged(self)
        if facts.mode == .bootloader { watchBootloader() }
        guard facts.mode == .application else { return }
        if let until = facts.ongoingUntil { flap(until: until) }
        if facts.version != plan.version, happens({ $0 == .restartAfterReturn }) {
            world.after(.seconds(8)) { [weak self] in
                guard let self else { return }
                self.restart(as: .application, after: self.plan.restartTime)
            }
        }
    }

    // MARK: The "ongoing" status

    private var flapPeriod: Duration {
        for fault in plan.faults {
            if case .flap(_, let period) = fault.kind { return period }
        }
        return .seconds(6)
    }

    private var isOngoing: Bool {
        guard let until = facts.ongoingUntil, world.now < until else { return false }
        let left = world.now.duration(to: until).nanoseconds
        return left / (flapPeriod.nanoseconds / 2) % 2 == 0
    }

    /// Tells a central each time the status changes.
    private func flap(until: Moment) {
        guard world.now < until else { return }
        world.after(flapPeriod / 2) { [weak self] in
            guard let self, self.facts.ongoingUntil == until else { return }
            if self.isAuthenticated {
                self.link?.notify(self.versions.record.bytes, on: ComoduleNumbers.notifier)
            }
            self.flap(until: until)
        }
    }

    // MARK: Faults and flash

    private func isLeft(_ fault: Int) -> Bool {
        Int(facts.faultCounts[fault]) < plan.faults[fault].times
    }

    private func count(_ fault: Int) {
        if facts.faultCounts[fault] < .max { facts.faultCounts[fault] += 1 }
        save()
    }

    /// Counts the first fault of this kind that is left; false when there is none.
    private func happens(_ kind: (ModulePlan.Fault.Kind) -> Bool) -> Bool {
        guard
            let index = plan.faults.indices.first(where: {
                isLeft($0) && kind(plan.faults[$0].kind)
            })
        else { return false }
        count(index)
        return true
    }

    /// Saves once for all that happens at this moment.
    private func save() {
        guard slot != nil, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            self.facts.transfer = self.target.facts
            self.slot?.save(self.facts.bytes, at: self.world.now)
        }
    }
}

/// A slot is an image memory of the depot's file.
extension DepotSlot: ImageMemory {
    var capacity: Int { imageCapacity }
}

extension World {
    /// Puts a Comodule module on the air that keeps nothing beyond its process.
    package func addComodule(_ plan: ModulePlan, imageCapacity: Int = 1 << 20) {
        add(ComoduleModule(plan: plan, world: self, slot: nil, imageCapacity: imageCapacity))
    }

    package var comoduleModules: [ComoduleModule] { devices.compactMap { $0 as? ComoduleModule } }
}
