package import Base
import Radio
import Simulation

/// A simulated device of family `lrdevice`: all features of a lock, and its faults.
package final class LRDevice: SimulatedModule<LRDevicePlan, LRFacts> {
    /// The commands that changed something, in their order: for tests, not visible over the air.
    package private(set) var done: [LRCommand] = []

    init(_ plan: LRDevicePlan, _ place: ModulePlace) {
        super.init(plan, place, LRFacts(plan: plan))
    }

    package var state: LRLockState { facts.state }
    package var name: String { facts.name }
    package var autoLock: UInt8? { facts.autoLock }

    private var serialBytes: [UInt8] {
        Hex.bytes(plan.serial.text) ?? Array(plan.serial.text.utf8)
    }

    /// An address has six bytes, whatever the length of the serial.
    override var address: [UInt8] { Array((serialBytes + [0, 0, 0, 0, 0, 0]).prefix(6)) }

    override func describe(_ broadcast: inout Broadcast) {
        broadcast.manufacturerData = [LRNumbers.company: serialBytes]
        broadcast.services = [LRNumbers.service]
    }

    package override var characteristics: [Characteristic: CharacteristicFlags] {
        [LRNumbers.request: [.write], LRNumbers.reply: [.notify]]
    }

    override func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        guard characteristic == LRNumbers.request else { return .writeNotPermitted }
        if happens(.wantsBond) { return .insufficientAuthentication }
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
        let fault = strike { [.weakKey, .connectFails, .wantsBond].contains($0) ? nil : $0 }
        switch fault {
        case .slow(let longer): delay += longer
        case .silent: return
        case .wrongKind: kind = .request
        case .garbage: before.append([0xFF, 0xFF])
        case .storm(let count):
            let update = LRMessage(.notification, .networkUpdate)?.bytes ?? []
            before += Array(repeating: update, count: count)
        case .linkLost:
            link?.drop()
            return
        case .weakKey, .connectFails, .wantsBond, nil: break
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
        case .getName: return LRPayload.name(facts.name)
        case .setName:
            facts.name = String(decoding: payload, as: UTF8.self)
            return note(message, payload)
        case .getAutoLock: return facts.autoLock.map { [$0] } ?? []
        case .setAutoLock:
            facts.autoLock = payload.first
            return note(message, payload)
        case .setUser:
            facts.user = payload
            return note(message, payload)
        case .reset:
            facts = LRFacts(plan: LRDevicePlan(serial: plan.serial))
            return note(message, [])
        case .startNetworkListen, .stopNetworkListen: return LRPayload.names(plan.networks)
        case .connectToNetwork:
            let parts = LRPayload.names(in: payload)
            return note(message, [plan.networks.contains(parts.first ?? "") ? 1 : 0])
        case .keyExchange: return agree(payload)
        case .setPassword: return setPassword(message)
        case .getLockState: return [facts.state.rawValue]
        case .setLockState: return setLock(message)
        case .guestUnlock: return guest(message)
        default: return nil
        }
    }

    private func note(_ message: LRMessage, _ reply: [UInt8]) -> [UInt8] {
        done.append(message.command)
        save()
        world.note("\(plan.serial) \(message.command)")
        return reply
    }

    // MARK: Keys and the lock

    private func agree(_ other: [UInt8]) -> [UInt8] {
        if happens(.weakKey) { return [UInt8](repeating: 0, count: KeyPair.length) }
        let random = (0..<4).flatMap { _ in world.random.next().bigBytes }
        guard let pair = KeyPair(secret: Secret(random)),
            let shared = pair.sharedSecret(with: other)
        else { return [0] }
        facts.key = KeyDerivation.key(
            from: shared,
            salt: LRNumbers.keySalt,
            info: LRNumbers.keyInfo
        ).withBytes { $0 }
        save()
        return pair.publicKey
    }

    private func open(_ box: [UInt8]) -> [UInt8]? {
        facts.key.flatMap { SealingKey(Secret($0)) }?.open(box)
    }

    private func setPassword(_ message: LRMessage) -> [UInt8] {
        guard message.isSealed, let password = open(message.payload) else { return [0] }
        facts.password = password
        return note(message, [1])
    }

    private func setLock(_ message: LRMessage) -> [UInt8] {
        guard message.isSealed, let wanted = message.payload.first,
            let password = open(Array(message.payload.dropFirst())), password == facts.password
        else { return [0] }
        facts.state = LRLockState(reported: wanted)
        return note(message, [1])
    }

    private func guest(_ message: LRMessage) -> [UInt8] {
        guard message.payload.count > 1 else { return note(message, message.payload) }
        let parts = LRPayload.names(in: Array(message.payload.dropFirst()))
        guard let guest = plan.guest, parts == [guest.code, guest.id] else { return [0] }
        facts.state = LRLockState(reported: message.payload[0])
        return note(message, [1])
    }
}
