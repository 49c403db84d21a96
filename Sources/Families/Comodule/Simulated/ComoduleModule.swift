package import Base
package import Radio
package import Simulation

/// A simulated module of family `comodule`: its application, its bootloader and its faults.
package final class ComoduleModule: SimulatedModule<ModulePlan, ModuleFacts> {
    /// After this time without a client the bootloader returns to the application.
    static let bootloaderPatience = Duration.seconds(120)
    /// Between two parts of a package the bootloader waits this long for the next part.
    static let continuation = Duration.seconds(10)
    /// The time from the selection of a record until the register contains it.
    private static let recordDelay = Duration.milliseconds(12)

    /// Facts about the vehicle, which change while modules are worked on.
    package var stateOfCharge: UInt8
    package var speedTenths: UInt16
    var target: SecureDFUTarget<ModuleMemory>

    /// Bytes of packets that it received, repeats and init packets included.
    package internal(set) var packetBytes = 0
    private var challenge: [UInt8] = []
    var isAuthenticated = false
    private var selected: UInt16 = 0
    private var loaded = ComoduleRecord(id: 0, data: [])
    var isStuck = false
    private var loading: (record: ComoduleRecord, at: Moment)?
    private var vehicle: VehicleSettings
    /// How long the current answer is delayed: a request sets it, and the link takes it right after
    /// the request.
    private var pause = AnswerPause.none
    var lastSign = Moment(nanoseconds: 0)

    init(_ plan: ModulePlan, _ place: ModulePlace) {
        stateOfCharge = plan.stateOfCharge
        speedTenths = plan.speedTenths
        vehicle = plan.vehicle
        target = SecureDFUTarget(memory: place.memory)
        var run = RunFacts()
        run.addressGeneration = plan.addressGeneration
        super.init(plan, place, ModuleFacts(plan: plan), run)
        recallVehicle()
        target = SecureDFUTarget(rules: rules, facts: facts.transfer, memory: target.memory)
        if self.run.mode == .bootloader { watchBootloader() }
        if let until = facts.ongoingUntil, until > world.now { flap(until: until) }
        goOnHandingOver()
    }

    private var rules: SecureDFUTarget<ModuleMemory>.Rules {
        var rules = SecureDFUTarget<ModuleMemory>.Rules()
        let refuses = plan.faults.contains { $0.kind == .refuseInit }
        let isFull = plan.faults.contains { $0.kind == .flashFull }
        rules.judge = { _, _ in
            refuses ? .result(.invalidObject) : isFull ? .extended(.insufficientSpace) : nil
        }
        rules.key = plan.publicKey.flatMap { P256Key(encoded: $0) }
        rules.keepsProgress = plan.keepsProgress
        rules.packetPool = plan.packetPool
        rules.hardwareVersion = plan.hardwareVersion
        rules.softDevice = plan.softDevice
        if plan.preventsDowngrade { rules.applicationVersion = facts.version.packed }
        return rules
    }

    override func gather() { facts.transfer = target.facts }

    package override var serial: Serial? { plan.serial }

    /// The state after an update: for tests, not visible over the air.
    package var runningVersion: FirmwareVersion { facts.version }
    override var account: String? {
        let place = isInBootloader ? "in its bootloader" : "runs \(runningVersion)"
        return "\(place), got \(packetBytes) bytes"
    }

    /// Answers that a module with its key refuses, and keys that it was given: for tests, not
    /// visible over the air.
    package private(set) var wrongAnswers = 0
    package private(set) var takenKeys = 0

    package var receivedBytes: Int { target.facts.received }

    // MARK: On the air

    override func describe(_ broadcast: inout Broadcast) {
        broadcast.name = plan.name
        broadcast.manufacturerData = [
            ComoduleNumbers.company: Hex.bytes(plan.serial.text) ?? []
        ]
    }

    /// The bootloader's address: the application's address with 1 added to its last byte.
    ///
    /// The last byte of an application's address is even, so that no bootloader has the address of
    /// the next module.
    override var address: [UInt8] {
        let isNext = run.mode == .bootloader && !plan.isBonded
        let first = 0xC0 | run.addressGeneration & 0x3F
        var bytes = plan.serial.address(from: first, shift: 1)
        if let number = UInt64(plan.serial.text, radix: 16) {
            bytes = [first] + (number &<< 1).bigBytes.suffix(5)
        }
        if isNext { bytes[5] |= 1 }
        return bytes
    }

    package override var characteristics: [Characteristic: CharacteristicFlags] {
        let lacking = plan.faults.compactMap { fault -> UInt16? in
            guard case .lacks(let short) = fault.kind else { return nil }
            return short
        }
        return everyCharacteristic.filter { entry in
            !lacking.contains { ComoduleNumbers.stands($0, for: entry.key) }
        }
    }

    private var everyCharacteristic: [Characteristic: CharacteristicFlags] {
        switch run.mode {
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
                plan.buttonless: [.write, .indicate],
            ]
        case .bootloader: secureBootloader
        case .dead: [:]
        }
    }

    package override func linkMade(_ link: AirLink) {
        super.linkMade(link)
        lastSign = world.now
        isAuthenticated = plan.profile?.authentication == AuthenticationForm.none
        challenge = (0..<20).map { _ in UInt8(truncatingIfNeeded: world.random.next()) }
        let end: Duration? = strike { if case .linkLostAfter(let time) = $0 { time } else { nil } }
        if let end { world.after(end) { [weak link] in link?.drop() } }
        beginStorm(on: link)
    }

    package override func linkLost(_ link: AirLink) {
        lastSign = world.now
        target.linkClosed()
        save()
        super.linkLost(link)
    }

    package override func takePause() -> AnswerPause {
        defer { pause = .none }
        return pause
    }

    /// Performs the scripted faults of this exchange; returns the error that the module answers
    /// with.
    private func meet(_ exchange: ModulePlan.Exchange) -> ATTError? {
        for fault in plan.faults {
            if case .slow(let time) = fault.kind { pause = .lasting(time) }
            if fault.kind == .refuseBond, exchange != .information {
                return .insufficientAuthentication
            }
        }
        if happens(.silentIn(exchange)) { pause = .forever }
        if happens(.linkLostIn(exchange)) { link?.drop() }
        return nil
    }

    override func value(of characteristic: Characteristic) -> Result<[UInt8], ATTError> {
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
            if happens(.garbage) { return .success([0xDE, 0xAD, 0x00]) }
            if happens(.wrongRecord) {
                return .success(ComoduleRecord(id: ~loaded.id, data: loaded.data).bytes)
            }
            return .success(loaded.bytes)
        default:
            return .failure(.readNotPermitted)
        }
    }

    /// Most writes are packets, and faults cannot be scheduled for them.
    package override func streamed(_ packet: ArraySlice<UInt8>, to characteristic: Characteristic) {
        guard characteristic == DFUNumbers.packet else {
            return super.streamed(packet, to: characteristic)
        }
        exchange { self.packet(packet) }
    }

    override func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        lastSign = world.now
        if characteristic == DFUNumbers.packet {
            packet(bytes[...])
            return nil
        }
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
        case plan.buttonless:
            guard !bytes.isEmpty else { return .invalidLength }
            // A bonded module keeps its address and does not support names.
            buttonless(
                bytes,
                on: plan.buttonless,
                takesName: !plan.isBonded && !plan.isNameless,
                refuses: .refuseBootloader
            )
            return nil
        case DFUNumbers.controlPoint:
            return answer(target.controlPointWritten(bytes)) { perform($0) }
        default:
            return .writeNotPermitted
        }
    }

    package override func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        if characteristic == ComoduleNumbers.notifier {
            if let error = meet(.notifier) { return error }
            guard isAuthenticated else { return .insufficientAuthorization }
        }
        if characteristic == DFUNumbers.controlPoint { target.notificationsSwitched(on: on) }
        return nil
    }

    // MARK: Restarts

    override func restart(as mode: RunFacts.Mode, after delay: Duration) {
        mode == .application ? target.progressLost() : target.reset()
        if mode == .application { facts.isBetweenParts = false }
        super.restart(as: mode, after: delay)
    }

    override func started() {
        lastSign = world.now
        guard run.mode == .application else { return watchBootloader() }
        if let until = facts.ongoingUntil { flap(until: until) }
        goOnHandingOver()
        goBackWhenDue()
        if facts.version != plan.version, happens(.restartAfterReturn) {
            world.after(.seconds(8)) { [weak self] in
                guard let self else { return }
                self.restart(as: .application, after: self.plan.restartTime)
            }
        }
    }

    // MARK: Authentication and registers

    private var isImpostor: Bool { plan.faults.contains { $0.kind == .impostor } }

    private func answered(_ response: [UInt8]) -> ATTError? {
        let isRight = response == SHA1.digest(of: challenge + vehicle.key)
        if !isRight { wrongAnswers += 1 }
        guard isImpostor || isRight && !happens(.refuseKey) else {
            link?.drop()
            return nil
        }
        isAuthenticated = true
        return nil
    }

    /// Takes another key: in memory immediately, in flash some time later.
    private func changeKey(_ bytes: [UInt8]) -> ATTError? {
        guard isAuthenticated else { return .insufficientAuthorization }
        guard bytes.count == 20 else { return .invalidLength }
        guard !happens(.refuseKeyChange) else { return nil }
        takenKeys += 1
        vehicle.key = bytes
        world.after(.seconds(2)) { [weak self] in self?.keep() }
        return nil
    }

    /// Loses power: everything that is not yet in flash is gone.
    package func losePower() {
        recallVehicle()
        restart()
    }

    /// The vehicle's settings are those in flash.
    private func recallVehicle() {
        var first = plan.vehicle
        first.key = plan.key
        vehicle = facts.vehicle ?? first
    }

    /// Writes the vehicle's settings to flash.
    private func keep() {
        facts.vehicle = vehicle
        save()
    }

    private func select(_ bytes: [UInt8]) -> ATTError? {
        guard isAuthenticated else { return .insufficientAuthorization }
        guard bytes.count == 2 else { return .invalidLength }
        loadRecord()
        selected = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        // After an unknown id the register keeps the older record.
        loading = record(selected).map { ($0, world.now.advanced(by: Self.recordDelay)) }
        return nil
    }

    private func loadRecord() {
        guard let loading, loading.at <= world.now else { return }
        // The register gets the current value, not the value at the time of the selection.
        loaded = record(loading.record.id) ?? loading.record
        self.loading = nil
    }

    /// The record in the generic layout, with the versions at the places that the module's profile
    /// names.
    private func record(_ id: UInt16) -> ComoduleRecord? {
        let record = ownRecord(id)
        guard let dress else { return record }
        var data = record?.data
        for target in dress.profile.firmware {
            guard case .record(let field) = target.version, field.register == id else { continue }
            var bytes = data ?? [UInt8](repeating: 0, count: 8)
            let version = version(of: target.part)
            let numbers = [version.major, version.minor, version.patch, version.build]
                .prefix(field.length).map { UInt8(clamping: $0) }
            _ = field.put(field.order == .big ? numbers : numbers.reversed(), into: &bytes)
            data = bytes
        }
        return data.map { ComoduleRecord(id: id, data: $0) }
    }

    private func version(of part: FirmwareTarget.Part) -> FirmwareVersion {
        switch part {
        case .secondary, .image: facts.version
        case .primary: facts.primaryVersion
        case .bootloader: facts.bootloader
        case .external1: facts.external1
        case .external2: facts.external2
        }
    }

    private func ownRecord(_ id: UInt16) -> ComoduleRecord? {
        switch id {
        case VersionsRecord.id: versions.record
        case ComponentsRecord.id: facts.components.record
        case 0xFBFB: vehicle.boot(facts.bootloader)
        case PowerRecord.id:
            vehicle.power(stateOfCharge: stateOfCharge)
        case MotionRecord.id:
            MotionRecord(speedTenths: vehicle.stormSpeed ?? speedTenths).record
        default: vehicle.record(id)
        }
    }

    var versions: VersionsRecord {
        VersionsRecord(
            primary: facts.primaryVersion,
            variant: plan.firmwareVariant,
            handoff: isOngoing || isHandingOver ? 1 : 0
        )
    }

    private func command(_ bytes: [UInt8]) -> ATTError? {
        guard let record = ComoduleRecord(bytes) else { return .invalidLength }
        if let preflight = PreflightRecord(record) {
            facts.preflight = preflight.part
            save()
            return nil
        }
        guard isAuthenticated else { return .insufficientAuthorization }
        if happens(.ignoresWrites) { return nil }
        for id in vehicle.take(record) { self.record(id).map { tell($0.bytes) } }
        keep()
        return nil
    }

    /// Notifies the central of a record that changed.
    func tell(_ bytes: [UInt8]) {
        guard isAuthenticated else { return }
        link?.notify(bytes, on: ComoduleNumbers.notifier)
    }

    /// Changes a setting on the vehicle itself, as when a rider turns a knob.
    package func set(_ change: (inout VehicleSettings) -> Void) {
        change(&vehicle)
        for id in VehicleSettings.records { record(id).map { tell($0.bytes) } }
        keep()
    }

    /// The settings of the vehicle: for tests, not visible over the air.
    package var settings: VehicleSettings { vehicle }

    // MARK: Storms

    /// Notifies its speed at the scripted rate while the link is up.
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
            // A controller accepts only a limited number of packets: the next notification replaces
            // those left out.
            if self.isAuthenticated, link.backlog < 64 {
                if self.happens(.garbage) { self.tell([0xBA, 0xD0]) }
                self.record(MotionRecord.id).map { self.tell($0.bytes) }
            }
            self.storm(every: period, on: link)
        }
    }
}
