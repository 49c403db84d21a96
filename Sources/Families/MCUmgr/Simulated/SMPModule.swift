package import Domain
import Modules
package import Protocols
package import Radio
package import Simulation
import Wire

/// A simulated module of family `mcumgr`: its application with SMP, its MCUboot, and its faults.
package final class SMPModule: AirDevice {
    private let world: World
    private let plan: SMPModulePlan
    private let slot: DepotSlot?
    private var facts: SMPModuleFacts
    private var server: SMPServer<ModuleMemory>
    private var reassembly: SMPReassembly
    private var saveIsSet = false
    /// The values of its characteristics other than that of SMP, until it restarts.
    private var contents: [Characteristic: [UInt8]]

    package let security: AirSecurity?
    private var link: AirLink?
    private var isNotifying = false
    private var isSilent = false
    /// Messages that arrived and wait for their turn.
    private var waiting: [SMPFrame] = []
    private var isWorking = false
    /// Counts restarts: work from before the last restart gets no answer.
    private var era = 0

    init(plan: SMPModulePlan, world: World, slot: DepotSlot?, imageCapacity: Int) {
        self.plan = plan
        security = plan.bond.map { AirSecurity($0) }
        contents = plan.characteristics
        self.world = world
        self.slot = slot
        let saved = slot.flatMap { $0.facts() }.flatMap { SMPModuleFacts($0) }
        if let saved, saved.baseline == SMPModuleFacts.baseline(of: plan) {
            facts = saved
            facts.server.values.statistics = plan.values.statistics
            let missing = plan.faults.count - facts.faultCounts.count
            facts.faultCounts += [UInt8](repeating: 0, count: max(0, missing))
        } else {
            facts = SMPModuleFacts(plan: plan)
        }
        let memory: ModuleMemory =
            slot.map { .slot($0) } ?? .volatile(VolatileMemory(capacity: imageCapacity))
        server = SMPServer(rules: plan.rules, facts: facts.server, memory: memory)
        reassembly = SMPReassembly(limit: plan.rules.bufferSize)
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            let times = fault.times - Int(facts.faultCounts[index])
            switch fault.kind {
            case .wrongOffset(let at): server.faults.append(.wrongOffset(at: at))
            case .flashFull(let at): server.faults.append(.flashFull(at: at))
            case .busy: server.faults.append(.busy(times: times))
            case .refusesTest: server.faults.append(.refusesTest)
            case .refusesConfirm: server.faults.append(.refusesConfirm)
            case .linkLost, .silent, .restart, .breaks, .answerLost, .answerTwice, .pieceLost,
                .corrupted, .restartInErase, .marksLost, .crashes, .ignoresReset, .neverReturns,
                .connectFails, .addressChanges:
                break
            }
        }
        server.linkLost()
        if let wakes = facts.wakes { world.at(wakes) { [weak self] in self?.start() } }
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    package private(set) lazy var dress: AirDress? = plan.profile.map {
        AirDress($0, serial: plan.serial, moved: ProfileShape.mcumgr.moved(by: $0.gatt))
    }

    /// The images after an update: for tests, not visible over the air.
    package var running: [SMPServerFacts.Content] { server.facts.images.map(\.active) }
    package var isConfirmed: Bool { server.facts.images.allSatisfy(\.isConfirmed) }
    package var record: String? {
        let versions = running.map { "\($0.version)" }.joined(separator: " ")
        return "runs \(versions), \(isConfirmed ? "confirmed" : "on trial"), "
            + "got \(writes) writes" + (security.map { ", \($0.record)" } ?? "")
    }

    /// Its settings, files and statistics: for tests.
    package var values: SMPServerValues { server.facts.values }

    package var receivedBytes: Int { server.received }
    package var bootCount: Int { Int(facts.bootCount) }
    /// Number of writes that it received.
    package private(set) var writes = 0
    /// Number of messages that were dropped because no buffer was free.
    package private(set) var droppedMessages = 0

    // MARK: On the air

    package var broadcast: Broadcast? {
        guard link == nil, !isSilent, facts.wakes == nil, !facts.isDead, let signal = plan.signal
        else { return nil }
        var broadcast = Broadcast(address: address)
        broadcast.name = plan.name
        broadcast.services = [SMPNumbers.service]
        broadcast.interval = plan.advertisingInterval
        broadcast.signal = signal
        return broadcast
    }

    private var address: String {
        // A module that is listed by its address has that address.
        if plan.name == nil, Hex.bytes(plan.serial.text.filter { $0 != ":" })?.count == 6 {
            return plan.serial.text.uppercased()
        }
        let number = UInt64(CRC32.of(Array(plan.serial.text.utf8))) << 8
        let bytes = [0xC0 | facts.addressGeneration & 0x3F] + number.bigBytes.suffix(5)
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }

    package func acceptsConnection() -> Bool { !happens { $0 == .connectFails } }

    package var characteristics: [Characteristic: CharacteristicFlags] {
        var all: [Characteristic: CharacteristicFlags] = [
            SMPNumbers.characteristic: [
                plan.rules.wantsRequests ? .write : .writeWithoutResponse, .notify,
            ]
        ]
        for characteristic in contents.keys { all[characteristic] = [.read, .write] }
        return all
    }

    package func linkMade(_ link: AirLink) {
        self.link = link
        isNotifying = false
        reassembly.reset()
    }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        isNotifying = false
        reassembly.reset()
        server.linkLost()
        save()
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        contents[characteristic].map { .success($0) } ?? .failure(.readNotPermitted)
    }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        guard characteristic == SMPNumbers.characteristic else {
            guard contents[characteristic] != nil else { return .writeNotPermitted }
            contents[characteristic] = bytes
            return nil
        }
        writes += 1
        let number = writes
        if let kind = breakDue(at: number, isTaken: false) {
            breakOff(kind)
            return nil
        }
        take(bytes)
        if let kind = breakDue(at: number, isTaken: true) { breakOff(kind) }
        return nil
    }

    private func take(_ bytes: [UInt8]) {
        if happens(at: { if case .pieceLost(let at) = $0 { at } else { nil } }) { return }
        let frame: SMPFrame?
        if plan.rules.reassembles {
            frame = reassembly.take(bytes)
        } else {
            frame = bytes.count <= plan.rules.bufferSize ? SMPFrame(bytes) : nil
        }
        guard let frame else {
            if !plan.rules.reassembles { server.answer(toPart: bytes).map { notify($0) } }
            return
        }
        // One buffer holds the current message, the others hold those that wait.
        guard waiting.count + (isWorking ? 1 : 0) < plan.rules.bufferCount else {
            droppedMessages += 1
            return
        }
        waiting.append(frame)
        work()
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        isNotifying = on
        if !on { reassembly.reset() }
        return nil
    }

    // MARK: Work

    /// Handles the next message, one at a time.
    private func work() {
        guard !isWorking, !waiting.isEmpty else { return }
        isWorking = true
        guard plan.messageTime > .zero else { return perform(waiting.removeFirst()) }
        let era = era
        world.after(plan.messageTime) { [weak self] in
            guard let self, self.era == era, !self.waiting.isEmpty else { return }
            self.perform(self.waiting.removeFirst())
        }
    }

    private func perform(_ frame: SMPFrame) {
        let before = server.received
        let actions = server.message(frame)
        countServerFaults()
        save()
        var delay = Duration.zero
        var pages = 0
        for case .erase(let count) in actions {
            delay += plan.eraseTime * count
            pages += count
        }
        if pages > 0, happens({ $0 == .restartInErase }) {
            stopWork()
            return restart(after: plan.restartTime)
        }
        if delay > plan.link.supervisionTimeout, let link {
            // The erase blocks the processor: to the other side the module is gone.
            isSilent = true
            link.fallSilent()
        }
        let era = era
        let end = { [weak self] in
            guard let self, self.era == era else { return }
            if self.isSilent {
                self.isSilent = false
                self.world.advertisingChanged(self)
            }
            self.finish(actions, receivedBefore: before)
        }
        delay > .zero ? world.after(delay, end) : end()
    }

    private func finish(
        _ actions: [SMPServer<ModuleMemory>.Action],
        receivedBefore before: Int
    ) {
        isWorking = false
        for action in actions {
            switch action {
            case .erase: break
            case .reply(let bytes): reply(bytes)
            case .restart:
                guard !happens({ $0 == .ignoresReset }) else { continue }
                stopWork()
                return boot()
            }
        }
        guard !strike(from: before, to: server.received) else { return }
        work()
    }

    private func reply(_ bytes: [UInt8]) {
        if happens(at: { if case .answerLost(let at) = $0 { at } else { nil } }) { return }
        notify(bytes)
        if happens(at: { if case .answerTwice(let at) = $0 { at } else { nil } }) { notify(bytes) }
    }

    private func notify(_ bytes: [UInt8]) {
        guard isNotifying, let link else { return }
        let length = min(link.maximumLength, plan.rules.notificationLimit ?? .max)
        for start in stride(from: 0, to: bytes.count, by: length) {
            let end = min(start + length, bytes.count)
            link.notify(Array(bytes[start..<end]), on: SMPNumbers.characteristic)
        }
    }

    /// Whether a fault at this offset ended the current message.
    private func strike(from before: Int, to received: Int) -> Bool {
        guard received > before else { return false }
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
                link?.drop()
                stopWork()
                restart(after: plan.restartTime)
                return true
            case .corrupted(let at) where before < at && received >= at:
                count(index)
                let byte = server.memory.read(at - 1..<at)
                server.memory.write(byte.map { $0 ^ 0x10 }[...], at: at - 1)
            case .linkLost, .silent, .restart, .breaks, .answerLost, .answerTwice, .pieceLost,
                .corrupted, .wrongOffset, .flashFull, .busy, .restartInErase, .marksLost, .crashes,
                .refusesTest, .refusesConfirm, .ignoresReset, .neverReturns, .connectFails,
                .addressChanges:
                continue
            }
        }
        return false
    }

    private func breakDue(at number: Int, isTaken: Bool) -> ModulePlan.Break? {
        strike { if case .breaks(let kind, number, isTaken) = $0 { kind } else { nil } }
    }

    private func breakOff(_ kind: ModulePlan.Break) {
        switch kind {
        case .linkLost: link?.drop()
        case .silence: fallSilent()
        case .restart:
            // A reset: the module sends nothing that was still queued.
            link?.drop()
            stopWork()
            restart(after: plan.restartTime)
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

    private func stopWork() {
        era += 1
        isWorking = false
        isSilent = false
        waiting = []
    }

    /// A requested restart: the bootloader exchanges marked images.
    private func boot() {
        if happens({ $0 == .marksLost }) { server.marksLost() }
        let before = server.facts.images.map(\.active)
        var delay = plan.restartTime
        if server.facts.images.contains(where: { $0.mark != .none || !$0.isConfirmed }) {
            delay += plan.activationTime
        }
        server.restarted()
        let isNew = server.facts.images.map(\.active) != before
        if isNew, !isConfirmed, happens({ $0 == .crashes }) {
            // The new image started and crashed: the next start takes the old one.
            server.restarted()
            delay += plan.restartTime + plan.activationTime
            facts.bootCount &+= 1
        }
        if isNew, happens({ $0 == .addressChanges }) { facts.addressGeneration &+= 1 }
        if happens({ $0 == .neverReturns }) { facts.isDead = true }
        restart(after: delay, isBooted: true)
    }

    private func restart(after delay: Duration, isBooted: Bool = false) {
        if !isBooted { server.restarted() }
        facts.wakes = world.now.advanced(by: delay)
        save()
        // Data that is already queued for the central still arrives with the next connection event.
        world.after(plan.link.interval * 2) {
            [weak self, link, isSilent = plan.rules.resetsInSilence] in
            isSilent ? link?.fallSilent() : link?.drop()
            self?.save()
        }
        world.after(delay) { [weak self] in self?.start() }
    }

    private func start() {
        guard let wakes = facts.wakes, wakes <= world.now else { return }
        facts.wakes = nil
        facts.bootCount &+= 1
        contents = plan.characteristics
        save()
        world.advertisingChanged(self)
    }

    // MARK: Faults and flash

    /// Like `happens`, for faults that are scheduled for an offset.
    private func happens(at offset: (SMPModulePlan.Fault.Kind) -> Int?) -> Bool {
        let received = server.received
        return happens { kind in offset(kind).map { received > 0 && received >= $0 } ?? false }
    }

    /// Counts the faults that the server has used up.
    private func countServerFaults() {
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            let times = fault.times - Int(facts.faultCounts[index])
            switch fault.kind {
            case .busy:
                let left = server.faults.reduce(0) {
                    if case .busy(let times) = $1 { $0 + times } else { $0 }
                }
                if left < times { count(index) }
            case .wrongOffset(let at):
                if !server.faults.contains(.wrongOffset(at: at)) { count(index) }
            case .linkLost, .silent, .restart, .breaks, .answerLost, .answerTwice, .pieceLost,
                .corrupted, .flashFull, .restartInErase, .marksLost, .crashes, .refusesTest,
                .refusesConfirm,
                .ignoresReset, .neverReturns, .connectFails, .addressChanges:
                break
            }
        }
    }

    /// Saves once for everything that happens at this moment.
    func save() {
        guard slot != nil, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            self.facts.server = self.server.facts
            self.slot?.save(self.facts.bytes, at: self.world.now)
        }
    }
}

extension SMPModulePlan.Fault: ScriptedFault {}

extension SMPModule: FaultyModule {
    var scriptedFaults: [SMPModulePlan.Fault] { plan.faults }

    var faultCounts: [UInt8] {
        get { facts.faultCounts }
        set { facts.faultCounts = newValue }
    }
}

extension World {
    /// Adds an `mcumgr` module whose state ends with the process.
    package func addSMPModule(_ plan: SMPModulePlan, imageCapacity: Int = 1 << 20) {
        add(SMPModule(plan: plan, world: self, slot: nil, imageCapacity: imageCapacity))
    }

    package var smpModules: [SMPModule] { devices.compactMap { $0 as? SMPModule } }
}
