/// What an update is doing, for reports: the states of its machines without their facts.
package enum UpdateState: Equatable, Sendable {
    case idle
    case seeking(UpdateApproach.Errand)
    case connecting(ModuleRole)
    case inspecting
    case preparing
    case leaving
    case pausing
    case probing
    case transferring(part: Int)
    case activating
    case settling
    case checking
    case confirming
    case rollingBack
    case ended(UpdateEnding)

    init(_ phase: UpdateSession.Phase) {
        switch phase {
        case .idle: self = .idle
        case .approach(let machine): self.init(machine)
        case .transfer(let machine): self.init(machine)
        case .proof(let machine): self.init(machine)
        case .ended(let ending): self = .ended(ending)
        }
    }

    private init(_ machine: UpdateApproach) {
        switch machine.state {
        case .seeking: self = .seeking(machine.errand)
        case .connecting(let role, _): self = .connecting(role)
        case .inspecting: self = .inspecting
        case .preparing: self = .preparing
        case .leaving: self = .leaving
        case .pausing: self = .pausing
        }
    }

    private init(_ machine: UpdateTransfer) {
        switch machine.state {
        case .probing: self = .probing
        case .transferring(let part, _, _, _): self = .transferring(part: part)
        case .activating: self = .activating
        }
    }

    private init(_ machine: UpdateProof) {
        switch machine.state {
        case .settling: self = .settling
        case .checking: self = .checking
        case .confirming: self = .confirming
        case .rollingBack: self = .rollingBack
        }
    }
}
