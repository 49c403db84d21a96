package import Domain
import Modules
package import Radio
import Sealing
package import Simulation
import Wire

/// A simulated device of family `lrdevice`: all features of a lock, and its faults.
package final class LRDevice: AirDevice {
    private let world: World
    private var plan: LRDevicePlan { didSet { save() } }
    private let baseline: UInt32
    private let slot: DepotSlot?
    private var saveIsSet = false
    private var left: [Int] { didSet { save() } }
    private var link: AirLink?
    private var user: [UInt8] = [] { didSet { save() } }

    /// The commands that changed something, in their order: for tests, not visible over the air.
    package private(set) var done: [LRCommand] = []

    init(plan: LRDevicePlan, world: World, slot: DepotSlot? = nil) {
        self.world = world
        self.slot = slot
        baseline = LRFacts.baseline(of: plan)
        let facts = LRFacts(plan: plan, saved: slot?.facts())
        self.plan = facts.plan(plan)
        (left, user) = (facts.faultsLeft, facts.user)
    }

    /// Saves once for everything that happens at this moment.
    private func save() {
        guard let slot, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            let bytes = LRFacts(self.plan, user: self.user, left: self.left, self.baseline).bytes
            // Texts that a client wrote may be longer than the flash of such a lock.
            if bytes.count <= DepotMemory.factsBound { slot.save(bytes, at: self.world.now) }
        }
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    package private(set) lazy var dress: AirDress? = plan.profile.map {
        AirDress(
            $0,
            serial: plan.serial,
            moved: ProfileShape.lrdevice.moved(by: $0.gatt)
        )
    }

    package var state: LRLockState { plan.state }
    package var name: String { plan.name }
    package var autoLock: UInt8? { plan.autoLock }

    package var broadcast: Broadcast? {
        guard link == nil, let signal = plan.signal else { return nil }
        let bytes = Hex.bytes(plan.serial.text) ?? Array(plan.serial.text.utf8)
        // An address has six bytes, whatever the length of the serial.
        let address = (bytes + [0, 0, 0, 0, 0, 0]).prefix(6)
        var broadcast = Broadcast(
            address: address.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
        )
        broadcast.manufacturerData = [LRNumbers.company: bytes]
        broadcast.services = [LRNumbers.service]
        broadcast.interval = plan.advertisingInterval
        broadcast.signal = signal
        return broadcast
    }

    package var characteristics: [Characteristic: CharacteristicFlags] {
        [LRNumbers.request: [.write], LRNumbers.reply: [.notify]]
    }

    package func acceptsConnection() -> Bool { !happens { $0 == .connectFails } }

    package func linkMade(_ link: AirLink) { self.link = link }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        .failure(.readNotPermitted)
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? { nil }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        guard characteristic == LRNumbers.request else { return .writeNotPermitted }
        if happens({ $0 == .wantsBond }) { return .insufficientAuthentication }
        // Bytes that are not a request are dropped, as the kit's own peripheral does.
        guard let message = try? LRMessage(bytes), message.kind == .request,
            let payload = reply(to: message)
        else { return nil }
        answer(message.command, payload)
        return nil
    }

    // MARK: Answers

    private func answer(_ command: LRCommand, _ payload: [UInt8]) {
        var delay = plan.answerTime
        var kind = LRMessage.Kind.reply
        var before: [[UInt8]] = []
        for (index, fault) in plan.faults.enumerated() where left[index] > 0 {
            switch fault.kind {
            case .slow(let longer): delay += longer
            case .silent:
                left[index] -= 1
                return
            case .wrongKind: kind = .request
            case .garbage: before.append([0xFF, 0xFF])
            case .storm(let count):
                let update = LRMessage(.notification, .networkUpdate)?.bytes ?? []
                before += Array(repeating: update, count: count)
            case .linkLost:
                left[index] -= 1
                link?.drop()
                return
            case .weakKey, .connectFails, .wantsBond: continue
            }
            left[index] -= 1
            break
        }
        guard let bytes = LRMessage(kind, command, payload: payload)?.bytes else { return }
        world.after(delay) { [weak link] in
            for noise in before { link?.notify(noise, on: LRNumbers.reply) }
            link?.notify(bytes, on: LRNumbers.reply)
        }
    }

    /// The device's answer; nil for an unknown command.
    private func reply(to message: LRMessage) -> [UInt8]? {
        let payload = message.payload
        switch message.command {
        case .getName: return LRPayload.name(plan.name)
        case .setName:
            plan.name = String(decoding: payload, as: UTF8.self)
            return note(message, payload)
        case .getAutoLock: return plan.autoLock.map { [$0] } ?? []
        case .setAutoLock:
            plan.autoLock = payload.first
            return note(message, payload)
        case .setUser:
            user = payload
            return note(message, payload)
        case .reset:
            let fresh = LRDevicePlan(serial: plan.serial)
            (plan.name, plan.key, plan.password) = (fresh.name, nil, nil)
            (plan.state, plan.autoLock, user) = (fresh.state, nil, [])
            return note(message, [])
        case .startNetworkListen, .stopNetworkListen: return LRPayload.names(plan.networks)
        case .connectToNetwork:
            let parts = LRPayload.names(in: payload)
            return note(message, [plan.networks.contains(parts.first ?? "") ? 1 : 0])
        case .keyExchange: return exchange(payload)
        case .setPassword: return setPassword(message)
        case .getLockState: return [plan.state.rawValue]
        case .setLockState: return setLock(message)
        case .guestUnlock: return guest(message)
        default: return nil
        }
    }

    private func note(_ message: LRMessage, _ reply: [UInt8]) -> [UInt8] {
        done.append(message.command)
        world.note("\(plan.serial) \(message.command)")
        return reply
    }

    // MARK: Keys and the lock

    private func exchange(_ other: [UInt8]) -> [UInt8] {
        if happens({ $0 == .weakKey }) { return [UInt8](repeating: 0, count: KeyPair.length) }
        let random = (0..<4).flatMap { _ in world.random.next().bigBytes }
        guard let pair = KeyPair(secret: Secret(random)),
            let shared = pair.sharedSecret(with: other)
        else { return [0] }
        plan.key = KeyDerivation.key(
            from: shared,
            salt: LRNumbers.keySalt,
            info: LRNumbers.keyInfo
        ).withBytes { $0 }
        return pair.publicKey
    }

    private func open(_ box: [UInt8]) -> [UInt8]? {
        plan.key.flatMap { SealingKey(Secret($0)) }?.open(box)
    }

    private func setPassword(_ message: LRMessage) -> [UInt8] {
        guard message.isSealed, let password = open(message.payload) else { return [0] }
        plan.password = password
        return note(message, [1])
    }

    private func setLock(_ message: LRMessage) -> [UInt8] {
        guard message.isSealed, let wanted = message.payload.first,
            let password = open(Array(message.payload.dropFirst())), password == plan.password
        else { return [0] }
        plan.state = LRLockState(reported: wanted)
        return note(message, [1])
    }

    private func guest(_ message: LRMessage) -> [UInt8] {
        guard message.payload.count > 1 else { return note(message, message.payload) }
        let parts = LRPayload.names(in: Array(message.payload.dropFirst()))
        guard let guest = plan.guest, parts == [guest.code, guest.id] else { return [0] }
        plan.state = LRLockState(reported: message.payload[0])
        return note(message, [1])
    }

    private func happens(_ kind: (LRDevicePlan.Fault.Kind) -> Bool) -> Bool {
        guard
            let index = plan.faults.indices.first(where: {
                left[$0] > 0 && kind(plan.faults[$0].kind)
            })
        else { return false }
        left[index] -= 1
        return true
    }
}

extension World {
    /// Adds an LR device whose state ends with the process.
    package func addLRDevice(_ plan: LRDevicePlan) {
        add(LRDevice(plan: plan, world: self))
    }

    /// Adds an LR device that continues from its saved state.
    func addLRDevice(_ plan: LRDevicePlan, slot: DepotSlot?) {
        add(LRDevice(plan: plan, world: self, slot: slot))
    }

    package var lrDevices: [LRDevice] { devices.compactMap { $0 as? LRDevice } }
}
