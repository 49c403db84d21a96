package import Sessions
import Wire

extension ModuleError {
    /// As the update session weighs it.
    package func fault(while doing: String) -> UpdateFault {
        UpdateFault(failureClass, kind, doing.isEmpty ? description : "\(doing): \(description)")
    }

    private var kind: UpdateFault.Kind {
        if isLinkLoss { return .linkLost }
        switch self {
        case .smp(.upload(.noAnswer)), .smp(.upload(.noProgress)): return .tooFast
        case .entry(.noAnswer(.entering)), .entry(.malformed): return .unanswered
        default: break
        }
        guard case .upload(let error) = self else { return .plain }
        switch error {
        case .corrupted, .noProgress:
            return .tooFast
        case .refused(.execute, of: .initPacket, .extended(.firmwareVersion)):
            return .alreadyThere
        case .refused, .noAnswer, .beyondImage, .initPacketTooLong, .noObjectSize, .unfitLength,
            .malformed, .link:
            return .plain
        }
    }
}
