package import Base
import Radio
package import Simulation

/// A simulated GO device: the vehicle's side of the car-share protocol, as a central in the air.
///
/// It looks for its own service, connects, and takes signed commands: it really checks all
/// checksums, both signatures, the vehicle, the time and the permissions.
package final class GODevice: SimulatedDevice<GOPlan, GOPlan.Vehicle>, AirVisitor {
    /// The confirmation must arrive within this time after the request.
    private static let confirmationTime = Duration.seconds(2)
    /// The device needs about this long to verify two signatures.
    private static let verificationTime = Duration.milliseconds(40)
    /// After a link it looks for its service again when this time is over.
    private static let pause = Duration.milliseconds(200)

    /// The state of the device on a link.
    private enum State: Equatable {
        case away
        /// Connected, waiting for sync bytes.
        case listening
        /// It requested the handshake.
        case asked(number: Int)
        case ready(challenge: [UInt8]?)
        /// A command is under way.
        case busy
    }

    private let tenants: [(hash: [UInt8], key: RSAPublicKey)]
    private var state = State.away
    private var visit: AirVisit?
    private var mayLook = true
    private var assembler = AddOnAssembler(sums: .strict)
    private var handshakes = 0
    /// Scripted faults of the current link.
    private var ignoresSync = false
    private var ignoresConfirmation = false
    /// Number of links so far: actions that were scheduled on an older link do not run on the next
    /// one.
    package private(set) var links = 0

    /// The current state of the vehicle.
    package var vehicle: GOPlan.Vehicle {
        get { facts }
        set {
            facts = newValue
            save()
        }
    }
    /// The requests that it carried out, each with its commands.
    package internal(set) var executed: [CarShareCommands] = []
    /// Number of requests whose signed command arrived completely.
    package private(set) var commandsReceived = 0

    init(_ plan: GOPlan, _ place: ModulePlace) {
        tenants = plan.tenants.prefix(2).compactMap { modulus in
            RSAPublicKey(modulus: modulus).map {
                (SHA256.digest(of: $0.modulus).bytes, $0)
            }
        }
        service = AddOnNumbers.service(ofHardware: plan.hardwareID, sha256: SHA256.digest)
        super.init(plan, place, plan.vehicle)
    }

    private let service: GATTUUID?

    package var reactionTime: Duration { plan.reactionTime }

    package var seeks: GATTUUID? {
        visit == nil && mayLook && plan.isInReach ? service : nil
    }

    package var record: String? {
        "has carried out \(executed.count) requests, \(vehicle.isLocked ? "locked" : "unlocked")"
    }

    /// The time of the device's clock; nil when the clock is not set.
    var clock: WallTime? { plan.clockOffset.map { world.wallTime.advanced(by: $0) } }

    var hasKeys: Bool { !tenants.isEmpty }

    func tenant(hash: [UInt8]) -> RSAPublicKey? {
        tenants.first { $0.hash.starts(with: hash) }?.key
    }

    // MARK: The link

    package func subscribed(_ visit: AirVisit) {
        self.visit = visit
        links += 1
        assembler = AddOnAssembler(sums: .strict)
        state = .listening
        ignoresSync = happens(.noHandshake)
        ignoresConfirmation = happens(.noHandshakeAcknowledgement)
    }

    package func visitEnded(_ visit: AirVisit) {
        self.visit = nil
        state = .away
        mayLook = false
        world.after(Self.pause) { [weak self] in self?.mayLook = true }
    }

    /// Ends the link from the vehicle's side.
    package func leave() { visit?.end() }

    package func notified(_ bytes: [UInt8], _ visit: AirVisit) {
        if bytes == [AddOnNumbers.sync], !assembler.isMidFrame { return synced() }
        for event in assembler.take(bytes) {
            switch event {
            case .frame(let frame): received(frame)
            // As the wire specification demands: damaged frames are not answered.
            case .damaged: continue
            }
        }
    }

    private func send(_ frame: AddOnFrame) { visit?.write(inPieces: frame.bytes) }

    private func message(_ body: [UInt8], damaged: Bool = false) {
        guard let frame = try? AddOnFrame(.messageToHost, body) else { return }
        var bytes = frame.bytes
        if damaged { bytes[bytes.count - 2] ^= 0x5A }
        visit?.write(inPieces: bytes)
    }

    /// Does something after a delay, unless the link has changed by then.
    private func later(_ delay: Duration, _ action: @escaping (GODevice) -> Void) {
        let link = links
        world.after(delay) { [weak self] in
            guard let self, self.visit != nil, self.links == link else { return }
            action(self)
        }
    }

    // MARK: Handshake

    private func synced() {
        switch state {
        case .listening, .asked:
            if ignoresSync || leaves(in: .handshake) { return }
            ask()
        case .ready, .busy:
            // The host begins the handshake again.
            ask()
        case .away: return
        }
    }

    private func ask() {
        handshakes += 1
        let number = handshakes
        state = .asked(number: number)
        send(.handshakeRequest)
        later(Self.confirmationTime) { device in
            if device.state == .asked(number: number) { device.state = .listening }
        }
    }

    private func received(_ frame: AddOnFrame) {
        switch (state, frame.type) {
        case (.away, _): return
        case (_, .confirmation):
            let wantsAcknowledgement = frame.body[2] & 1 != 0
            if case .asked = state { state = .ready(challenge: nil) }
            guard wantsAcknowledgement, !ignoresConfirmation else { return }
            send(.acknowledgement)
        case (_, .ping): send(.acknowledgement)
        case (.ready, .vehicleDataRequest), (.busy, .vehicleDataRequest): tellSerial()
        case (.ready(let challenge), .messageToVehicle): received(frame.body, challenge)
        case (.busy, .messageToVehicle):
            send(.reply(accepted: true))
            if frame.body.first == 0x80 { refuse(.busy) }
        case (.listening, _), (.asked, _), (.ready, _), (.busy, _): return
        }
    }

    /// Sends the device's data; only its serial has a meaning here.
    private func tellSerial() {
        guard !happens(.noVehicleData),
            let data = AddOnNumbers.vehicleData(serial: plan.serial),
            let frame = try? AddOnFrame(.vehicleData, data)
        else { return }
        send(frame)
    }

    // MARK: Commands

    private func received(_ message: [UInt8], _ challenge: [UInt8]?) {
        switch message.first {
        case 0x00 where message == CarShareMessage.request: requested()
        case 0x80: commanded(Array(message.dropFirst()), challenge)
        default: send(.reply(accepted: false))
        }
    }

    private func requested() {
        if leaves(in: .request) || happens(.noReply(in: .request)) { return }
        if happens(.rejects(in: .request)) { return send(.reply(accepted: false)) }
        shakeAgain(in: .request)
        var challenge = (0..<CarShareChallenge.length).map { _ in
            UInt8(truncatingIfNeeded: world.random.next())
        }
        state = .ready(challenge: challenge)
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            guard case .challengeLength(let bytes) = fault.kind else { continue }
            count(index)
            challenge = Array(repeating: 0xC7, count: max(0, bytes))
        }
        let body = [0x01, 0x01, 0x00] + challenge
        if happens(.challengeEarly) {
            message(body)
            return send(.reply(accepted: true))
        }
        send(.reply(accepted: true))
        if leaves(in: .challenge) || happens(.noChallenge) { return }
        let damaged = happens(.wrongChecksum)
        later(.milliseconds(5)) { device in
            device.shakeAgain(in: .challenge)
            device.message(body, damaged: damaged)
        }
    }

    private func commanded(_ bytes: [UInt8], _ challenge: [UInt8]?) {
        commandsReceived += 1
        if leaves(in: .command) || happens(.noReply(in: .command)) { return }
        if happens(.rejects(in: .command)) { return send(.reply(accepted: false)) }
        state = .busy
        send(.reply(accepted: true))
        shakeAgain(in: .command)
        later(Self.verificationTime) { device in
            let order = device.judge(bytes, challenge)
            device.acknowledge(order)
        }
    }

    private func refuse(_ refusal: CarShareRefusal) {
        message(CarShareAcknowledgement.refused(refusal).message)
    }

    private func acknowledge(_ order: Result<GOOrder, CarShareRefusal>) {
        if let code = strike({ if case .nack(let code) = $0 { code } else { nil } }) {
            state = .ready(challenge: nil)
            return refuse(CarShareRefusal(rawValue: code))
        }
        switch order {
        case .failure(let refusal):
            state = .ready(challenge: nil)
            refuse(refusal)
        case .success(let order):
            let isSilent = happens(.noAcknowledgement)
            if !isSilent { message(CarShareAcknowledgement.accepted.message) }
            shakeAgain(in: .acknowledgement)
            carryOut(order, reports: !isSilent)
        }
    }

    /// Carries out an accepted command, even when the link ends.
    private func carryOut(_ order: GOOrder, reports: Bool) {
        let link = links
        if leaves(in: .acknowledgement) {}
        world.after(plan.operationTime) { [weak self] in
            guard let self else { return }
            let report = self.scripted() ?? self.execute(order)
            guard self.visit != nil, self.links == link else { return }
            self.state = .ready(challenge: nil)
            self.shakeAgain(in: .result)
            guard reports, !self.leaves(in: .result), !self.happens(.noResult) else { return }
            self.later(self.lateness()) { $0.message(report.message) }
        }
    }

    private func lateness() -> Duration {
        strike { if case .lateResult(let delay) = $0 { delay } else { nil } } ?? .zero
    }

    /// The scripted report that replaces carrying the command out.
    private func scripted() -> CarShareReport? {
        if happens(.failsSilently) { return CarShareReport(isSuccess: false) }
        return strike { kind in
            guard case .status(let id, let value) = kind else { return nil }
            let status = CarShareStatus(id: id, value: value, time: clock)
            return CarShareReport(isSuccess: false, statuses: [status])
        }
    }

    // MARK: Faults

    /// Ends the link at this point, by script or by chance; returns whether it did.
    private func leaves(in phase: GOPlan.Phase) -> Bool {
        let share = plan.lossChance / GOPlan.Phase.allCases.count
        let isChance = share > 0 && world.random.below(10_000) < share
        guard isChance || happens(.disconnect(in: phase)) else { return false }
        leave()
        return true
    }

    /// Requests the handshake again in the middle of a command, without forgetting the command.
    private func shakeAgain(in phase: GOPlan.Phase) {
        if happens(.secondHandshake(in: phase)) { send(.handshakeRequest) }
    }
}

/// A central that subscribes to a vehicle's service and sends nothing.
final class StrayCentral: AirVisitor {
    private let service: GATTUUID?
    private var visit: AirVisit?
    let label: String
    let linkParameters = LinkParameters()
    let reactionTime: Duration

    init(of plan: GOPlan, number: Int) {
        service = AddOnNumbers.service(ofHardware: plan.hardwareID, sha256: SHA256.digest)
        label = "stray central \(number) at \(plan.serial)"
        // After the device itself: the first central that subscribes is the only one.
        reactionTime = plan.reactionTime + .milliseconds(1 + number)
    }

    var seeks: GATTUUID? { visit == nil ? service : nil }

    func subscribed(_ visit: AirVisit) { self.visit = visit }
    func notified(_ bytes: [UInt8], _ visit: AirVisit) {}
    func visitEnded(_ visit: AirVisit) { self.visit = nil }
}

extension GODevice {
    /// Adds a GO device and the centrals around it.
    static func add(_ plan: GOPlan, _ place: ModulePlace) {
        place.world.add(GODevice(plan, place))
        for number in 0..<plan.strayCentrals {
            place.world.add(StrayCentral(of: plan, number: number))
        }
        if let answer = plan.impostor { place.world.add(GOImpostor(of: plan, answering: answer)) }
    }
}

extension AirVisit {
    /// Writes these bytes in pieces that fit the link.
    func write(inPieces bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: maximumLength) {
            write(Array(bytes[start...].prefix(maximumLength)))
        }
    }
}
