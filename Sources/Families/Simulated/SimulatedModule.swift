package import Base
package import Radio
package import Simulation

/// What a depot's file says about every simulated module that advertises.
package protocol SimulatedModulePlan: SimulatedPlan where Kind: ModuleFaultKind {
    static var shape: ProfileShape { get }

    /// Nil for the family's generic profile.
    var profile: Profile? { get set }
    /// Nil when it is out of reach.
    var signal: Int? { get set }
    var advertisingInterval: Duration { get set }
    var restartTime: Duration { get }
    /// The service that only its bootloader advertises.
    var bootloaderService: GATTUUID? { get }
    /// How its application bonds; nil when it cannot bond.
    var bond: AirSecurity.Plan? { get }

    init(serial: Serial)
}

extension SimulatedModulePlan {
    package var restartTime: Duration { .seconds(2) }
    package var bootloaderService: GATTUUID? { nil }
    package var bond: AirSecurity.Plan? { nil }
    var bootloaderServices: [GATTUUID] { bootloaderService.map { [$0] } ?? [] }
}

/// A simulated module: what it does on the air and at a restart, whatever its protocol is.
package class SimulatedModule<Plan: SimulatedModulePlan, Facts: FlashFacts>:
    SimulatedDevice<Plan, Facts>, AirDevice
{
    /// Nil when it is out of reach.
    package var signal: Int?
    /// Number of reads and writes so far: a fault can be scheduled for one of them.
    package internal(set) var exchanges = 0
    /// Number of the last notification of an update.
    private(set) var notifications = 0
    private(set) var link: AirLink?
    var isSilent = false
    /// Counts restarts: work from before the last restart is not continued.
    private(set) var era = 0
    /// Its bonds; the bootloader does not use them.
    private let bonds: AirSecurity?
    /// Notifications wait until the flash is ready.
    private var busyUntil = Moment(nanoseconds: 0)

    override init(
        _ plan: Plan,
        _ place: ModulePlace,
        _ facts: Facts,
        _ run: RunFacts = RunFacts()
    ) {
        signal = plan.signal
        bonds = plan.bond.map { AirSecurity($0) }
        super.init(plan, place, facts, run)
        if let wakes = self.run.wakes { world.at(wakes) { [weak self] in self?.start() } }
    }

    package private(set) lazy var dress: AirDress? = plan.profile.map {
        AirDress(
            $0,
            serial: plan.serial,
            moved: Plan.shape.moved(by: $0.gatt),
            bootloader: plan.bootloaderService
        )
    }

    package var isInBootloader: Bool { run.mode == .bootloader && run.wakes == nil }

    package var serial: Serial? { nil }
    package var security: AirSecurity? { run.mode == .bootloader ? nil : bonds }
    package var record: String? { account.map { $0 + (bonds.map { ", \($0.record)" } ?? "") } }
    /// What it says about itself, besides its bonds.
    var account: String? { nil }
    package var characteristics: [Characteristic: CharacteristicFlags] { [:] }

    // MARK: Advertisements

    package var broadcast: Broadcast? {
        guard link == nil, !isSilent, run.wakes == nil, run.mode != .dead, let signal
        else { return nil }
        let state = BroadcastState(
            mode: run.mode,
            generation: run.addressGeneration,
            name: run.bootloaderName,
            signal: signal
        )
        if let made, made.state == state { return made.broadcast }
        var broadcast = Broadcast(
            address: address.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
        )
        broadcast.interval = plan.advertisingInterval
        broadcast.signal = signal
        if run.mode == .bootloader {
            broadcast.name = bootloaderName
            broadcast.services = plan.bootloaderServices
            broadcast.interval = .milliseconds(25)
        } else {
            describe(&broadcast)
        }
        made = (state, broadcast)
        return broadcast
    }

    /// The facts that determine a broadcast.
    private struct BroadcastState: Equatable {
        let mode: RunFacts.Mode
        let generation: UInt8
        let name: [UInt8]
        let signal: Int
    }

    /// The last broadcast, cached because every advertisement needs it.
    private var made: (state: BroadcastState, broadcast: Broadcast)?

    /// The address of what it runs now.
    var address: [UInt8] { [] }

    /// The name that its bootloader was given, or its own.
    var bootloaderName: String {
        run.bootloaderName.isEmpty
            ? "DfuTarg" : String(decoding: run.bootloaderName, as: UTF8.self)
    }

    /// Gives an advertisement the name and the services of its application.
    func describe(_ broadcast: inout Broadcast) {}

    // MARK: The link

    package func acceptsConnection() -> Bool { !happens(.connectFails) }

    package func linkMade(_ link: AirLink) { self.link = link }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        exchange { value(of: characteristic) }
    }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        exchange { take(bytes, on: characteristic) }
    }

    /// What a read gets.
    func value(of characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        .failure(.readNotPermitted)
    }

    /// Carries out a write.
    func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        .writeNotPermitted
    }

    package func streamed(_ packet: ArraySlice<UInt8>, to characteristic: Characteristic) {
        _ = written(Array(packet), to: characteristic)
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? { nil }

    package func takePause() -> AnswerPause { .none }

    /// The flash needs this long before anything else happens.
    func occupyFlash(_ time: Duration) {
        busyUntil = max(busyUntil, world.now).advanced(by: time)
    }

    /// Counts a notification of an update; true when the script loses the one with this number.
    func isLost(_ fault: (Int) -> Plan.Kind) -> Bool {
        notifications += 1
        return happens(fault(notifications))
    }

    /// Notifies as soon as the flash is ready.
    func notifyWhenReady(_ bytes: [UInt8], on characteristic: Characteristic) {
        whenReady { [weak link] in link?.notify(bytes, on: characteristic) }
    }

    /// Does this as soon as the flash is ready.
    func whenReady(_ action: @escaping () -> Void) {
        guard busyUntil > world.now else { return action() }
        world.at(busyUntil, action)
    }

    // MARK: Links that break

    /// Does one read or write, with the faults that are scheduled for its number.
    func exchange<R>(_ body: () -> R) -> R {
        exchanges += 1
        _ = breaks(isBefore: true)
        let result = body()
        _ = breaks(isBefore: false)
        return result
    }

    /// Does what the script demands before or after this exchange; false when it demands nothing.
    func breaks(isBefore: Bool) -> Bool {
        let number = exchanges
        let kind: LinkBreak? = strike {
            if case .exchange(number, let kind, isBefore)? = $0.cut { kind } else { nil }
        }
        if let kind { breakOff(kind) }
        return kind != nil
    }

    /// Does what the script demands when this many bytes of an image have arrived.
    func cut(at received: Int) {
        let kind: LinkBreak? = strike {
            if case .byte(let at, let kind)? = $0.cut, received >= at { kind } else { nil }
        }
        if let kind { breakOff(kind) }
    }

    func breakOff(_ kind: LinkBreak) {
        switch kind {
        case .linkLost: link?.drop()
        case .silence: fallSilent()
        case .restart:
            // A reset: the module sends nothing that was still queued.
            link?.drop()
            restart()
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

    // MARK: Restarts

    /// Restarts in its current role.
    package func restart() { restart(as: run.mode, after: plan.restartTime) }

    /// Stops now, and starts in `mode` after `delay`.
    func restart(as mode: RunFacts.Mode, after delay: Duration) {
        run.mode = mode
        run.wakes = world.now.advanced(by: delay)
        if mode == .application { run.bootloaderName = [] }
        era += 1
        save()
        // Data that is already queued for the central still arrives with the next connection event.
        world.after(plan.link.interval * 2) { [weak self, link] in
            self?.leave(link)
            self?.save()
        }
        world.after(delay) { [weak self] in self?.start() }
    }

    /// Ends the link of the program that ran before a restart.
    func leave(_ link: AirLink?) { link?.drop() }

    private func start() {
        guard let wakes = run.wakes, wakes <= world.now else { return }
        run.wakes = nil
        run.bootCount &+= 1
        save()
        world.advertisingChanged(self)
        if run.mode != .dead { started() }
    }

    /// It has started in its present mode.
    func started() {}
}

extension Serial {
    /// The address that the serial is; nil for serials of another form.
    var address: [UInt8]? {
        Hex.bytes(text.filter { $0 != ":" }).flatMap { $0.count == 6 ? $0 : nil }
    }

    /// An address with this first byte that is always the same for this serial.
    func address(from first: UInt8, shift: Int = 8) -> [UInt8] {
        [first] + (UInt64(CRC32.of(Array(text.utf8))) << shift).bigBytes.suffix(5)
    }
}
