package import Base
package import Radio
package import Simulation

/// A simulated central without any key that pretends to be a vehicle's GO device.
///
/// It knows what everybody nearby knows: the service and the serial. It asks for signed commands
/// with challenges of its own, keeps them, and says what its script demands.
package final class GOImpostor: AirVisitor {
    private let service: GATTUUID?
    private let serial: Serial
    private let answer: GOPlan.Impostor
    private var visit: AirVisit?
    private var assembler = AddOnAssembler(sums: .strict)
    private var received: [UInt8] = []

    package let linkParameters: LinkParameters
    package let reactionTime: Duration
    package var label: String { "impostor of \(serial)" }
    /// The commands whose signature it has, each with the bytes that it got.
    package private(set) var collected: [[UInt8]] = []

    init(of plan: GOPlan, answering answer: GOPlan.Impostor) {
        service = AddOnNumbers.service(ofHardware: plan.hardwareID, sha256: SHA256.digest)
        serial = plan.serial
        self.answer = answer
        linkParameters = plan.link
        // Nearer than the device itself.
        reactionTime = plan.reactionTime / 2
    }

    package var seeks: GATTUUID? { visit == nil ? service : nil }

    package var record: String? { "has collected \(collected.count) signed commands" }

    /// It does not know the passkey.
    package func canPair(_ pairing: Pairing) -> Bool { !pairing.isAuthenticated }

    package func subscribed(_ visit: AirVisit) {
        self.visit = visit
        assembler = AddOnAssembler(sums: .strict)
        received = []
    }

    package func visitEnded(_ visit: AirVisit) { self.visit = nil }

    package func notified(_ bytes: [UInt8], _ visit: AirVisit) {
        if bytes == [AddOnNumbers.sync], !assembler.isMidFrame { return send(.handshakeRequest) }
        received += bytes
        if answer == .leave, isAllButComplete {
            collected.append(received)
            return visit.end()
        }
        for case .frame(let frame) in assembler.take(bytes) {
            received = []
            take(frame)
        }
    }

    /// Whether at most as many bytes are missing as it can try.
    private var isAllButComplete: Bool {
        guard received.count > 4, received[1] == AddOnType.messageToVehicle.rawValue else {
            return false
        }
        let total = Int(received[2]) + Int(received[3]) * 256 + 7
        return total > 500 && received.count < total && total - received.count <= 24
    }

    private func take(_ frame: AddOnFrame) {
        if frame.type == .confirmation || frame.type == .ping {
            send(.acknowledgement)
        } else if frame.type == .vehicleDataRequest {
            guard let data = AddOnNumbers.vehicleData(serial: serial) else { return }
            send(try? AddOnFrame(.vehicleData, data))
        } else if frame.body == CarShareMessage.request {
            send(.reply(accepted: true))
            message([1, 1, 0] + [UInt8](repeating: 0xA5, count: CarShareChallenge.length))
        } else if frame.type == .messageToVehicle {
            collected.append(frame.body)
            say()
        }
    }

    private func say() {
        if answer == .reject { return send(.reply(accepted: false)) }
        send(.reply(accepted: true))
        switch answer {
        case .busy: message(CarShareAcknowledgement.refused(.busy).message)
        case .nack: message(CarShareAcknowledgement.refused(.commandSignature).message)
        case .status:
            message(CarShareAcknowledgement.accepted.message)
            let status = CarShareStatus(id: 3_350, value: 1)
            message(CarShareReport(isSuccess: false, statuses: [status]).message)
        case .success:
            message(CarShareAcknowledgement.accepted.message)
            message(CarShareReport(isSuccess: true).message)
        case .reject, .nothing, .leave: return
        }
    }

    private func message(_ body: [UInt8]) { send(try? AddOnFrame(.messageToHost, body)) }

    private func send(_ frame: AddOnFrame?) {
        if let frame { visit?.write(inPieces: frame.bytes) }
    }
}
