import Domain
import Modules

/// What anyone who knows of updates says of a module.
public enum ModuleUpdateCheck: Sendable, Hashable {
    /// There is one, of this part, as in `secondary`.
    case available(part: String)
    case upToDate
    /// Nothing could be found out, and why.
    case failed(String)

    var check: UpdateCheck {
        switch self {
        case .available(let part): .available(FirmwareTarget.Part(rawValue: part) ?? .image)
        case .upToDate: .upToDate
        case .failed(let words): .failed(words)
        }
    }
}

/// Where a connected module stands with its updates, no matter who carries them out.
public enum ModuleUpdateStatus: Sendable, Hashable {
    case moduleNotConnected
    /// It is being asked whether there is an update.
    case fetchingUpdateInfo
    /// Nothing is known, and nothing is claimed.
    case checkFailed(String)
    case available(part: String)
    case upToDate
    /// An update of ours: its step, and how far that is, from 0 to 100.
    case ongoing(part: String, Step, percent: Double)
    /// The module hands an image on to a part of its vehicle, which takes minutes.
    case moduleUpdatingComponent

    /// In this order.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        case fetching, initiating, uploading
    }

    init(_ status: UpdateStatus) {
        switch status {
        case .moduleNotConnected: self = .moduleNotConnected
        case .fetchingUpdateInfo: self = .fetchingUpdateInfo
        case .checkFailed(let words): self = .checkFailed(words)
        case .available(let part): self = .available(part: part.rawValue)
        case .upToDate: self = .upToDate
        case .ongoing(let part, let stage):
            let step: Step =
                switch stage.kind {
                case .fetching: .fetching
                case .initiating: .initiating
                case .uploading: .uploading
                }
            let percent = Double(stage.progress.hundredths) / 100
            self = .ongoing(part: part.rawValue, step, percent: percent)
        case .moduleUpdatingComponent: self = .moduleUpdatingComponent
        }
    }
}
