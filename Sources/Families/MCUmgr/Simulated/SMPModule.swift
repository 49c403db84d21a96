package import Base
package import Radio
package import Simulation

/// A simulated module of family `mcumgr`: its application with SMP, its MCUboot, and its faults.
package final class SMPModule: SimulatedModule<SMPModulePlan, SMPServerFacts> {
    private var server: SMPServer<ModuleMemory>
    private var reassembly: SMPReassembly
    /// The values of its characteristics other than that of SMP, until it restarts.
    private var contents: [Characteristic: [UInt8]]
    private var isNotifying = false
    /// Messages that arrived and wait for their turn.
    private var waiting: [SMPFrame] = []
    private var isWorking = false

    init(_ plan: SMPModulePlan, _ place: ModulePlace) {
        contents = plan.characteristics
        reassembly = SMPReassembly(limit: plan.rules.bufferSize)
        let facts = SMPServerFacts(plan: plan)
        server = SMPServer(rules: plan.rules, facts: facts, memory: place.memory)
        super.init(plan, place, facts)
        server = SMPServer(rules: plan.rules, facts: self.facts, memory: server.memory)
        server.meets = { [unowned self] in meets($0) }
        server.linkLost()
    }

    /// The images after an update: for tests, not visible over the air.
    package var running: [SMPServerFacts.Content] { server.facts.images.map(\.active) }
    package var isConfirmed: Bool { server.facts.images.allSatisfy(\.isConfirmed) }
    override var account: String? {
        let versions = running.map { "\($0.version)" }.joined(separator: " ")
        return "runs \(versions), \(isConfirmed ? "confirmed" : "on trial"), "
            + "got \(exchanges) writes"
    }

    /// Its settings, files and statistics: for tests.
    package var values: SMPServerValues { server.facts.values }

    package var receivedBytes: Int { server.received }
    package var bootCount: Int { Int(run.bootCount) }
    /// Number of messages that were dropped because no buffer was free.
    package private(set) var droppedMessages = 0

    // MARK: On the air

    override func describe(_ broadcast: inout Broadcast) {
        broadcast.name = plan.name
        broadcast.services = [SMPNumbers.service]
    }

    /// A module that is listed by its address has that address.
    override var address: [UInt8] {
        let own = plan.name == nil ? plan.serial.address : nil
        return own ?? plan.serial.address(from: 0xC0 | run.addressGeneration & 0x3F)
    }

    package override var characteristics: [Characteristic: CharacteristicFlags] {
        var all: [Characteristic: CharacteristicFlags] = [
            SMPNumbers.characteristic: [
                plan.rules.wantsRequests ? .write : .writeWithoutResponse, .notify,
            ]
        ]
        for characteristic in contents.keys { all[characteristic] = [.read, .write] }
        return all
    }

    package override func linkMade(_ link: AirLink) {
        super.linkMade(link)
        isNotifying = false
        reassembly.reset()
    }

    package override func linkLost(_ link: AirLink) {
        isNotifying = false
        reassembly.reset()
        server.linkLost()
        save()
        super.linkLost(link)
    }

    package override func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        contents[characteristic].map { .success($0) } ?? .failure(.readNotPermitted)
    }

    package override func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError?
    {
        guard characteristic == SMPNumbers.characteristic else {
            guard contents[characteristic] != nil else { return .writeNotPermitted }
            contents[characteristic] = bytes
            return nil
        }
        exchanges += 1
        if breaks(isBefore: true) { return nil }
        take(bytes)
        _ = breaks(isBefore: false)
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

    package override func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
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
        save()
        var delay = Duration.zero
        var pages = 0
        for case .erase(let count) in actions {
            delay += plan.eraseTime * count
            pages += count
        }
        if pages > 0, happens(.restartInErase) {
            return restart()
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
                guard !happens(.ignoresReset) else { continue }
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
            if case .cut(.byte(let at, let kind)) = fault.kind, received >= at {
                count(index)
                breakOff(kind)
                if kind == .restart { return true }
            } else if case .corrupted(let at) = fault.kind, before < at, received >= at {
                count(index)
                let byte = server.memory.read(at - 1..<at)
                server.memory.write(byte.map { $0 ^ 0x10 }[...], at: at - 1)
            }
        }
        return false
    }

    // MARK: Restarts

    private func stopWork() {
        isWorking = false
        isSilent = false
        waiting = []
    }

    /// A requested restart: the bootloader exchanges marked images.
    private func boot() {
        if happens(.marksLost) { server.marksLost() }
        let before = server.facts.images.map(\.active)
        var delay = plan.restartTime
        if server.facts.images.contains(where: { $0.mark != .none || !$0.isConfirmed }) {
            delay += plan.activationTime
        }
        server.restarted()
        let isNew = server.facts.images.map(\.active) != before
        if isNew, !isConfirmed, happens(.crashes) {
            // The new image started and crashed: the next start takes the old one.
            server.restarted()
            delay += plan.restartTime + plan.activationTime
            run.bootCount &+= 1
        }
        if isNew, happens(.addressChanges) { run.addressGeneration &+= 1 }
        if happens(.neverReturns) { run.mode = .dead }
        super.restart(as: run.mode, after: delay)
    }

    override func restart(as mode: RunFacts.Mode, after delay: Duration) {
        stopWork()
        server.restarted()
        super.restart(as: mode, after: delay)
    }

    override func leave(_ link: AirLink?) {
        plan.rules.resetsInSilence ? link?.fallSilent() : super.leave(link)
    }

    override func started() { contents = plan.characteristics }

    // MARK: Faults and flash

    /// Like `happens`, for faults that are scheduled for an offset.
    private func happens(at offset: (SMPModulePlan.Kind) -> Int?) -> Bool {
        let received = server.received
        return happens { kind in offset(kind).map { received > 0 && received >= $0 } ?? false }
    }

    /// Whether the script has this fault of the server now; faults that stay are not counted.
    private func meets(_ other: SMPServer<ModuleMemory>.Fault) -> Bool {
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            switch (fault.kind, other) {
            case (.busy, .busy): count(index)
            // Whatever its number is, it happens once.
            case (.wrongOffset(let at), .wrongOffset(let offset)) where offset >= at:
                while isLeft(index) { count(index) }
            case (.flashFull(let at), .flashFull(let end)) where end > at: break
            case (.refusesTest, .refusesTest), (.refusesConfirm, .refusesConfirm): break
            default: continue
            }
            return true
        }
        return false
    }

    override func gather() { facts = server.facts }
}
