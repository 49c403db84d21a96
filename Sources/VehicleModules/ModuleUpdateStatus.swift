import Base
import Radio

/// The result of a check for updates of a module.
public enum ModuleUpdateCheck: Sendable {
    /// There is an update for this part, for example `secondary`.
    ///
    /// `image` gets its image: `updateFirmware` calls it when the update begins.
    case available(part: String, image: @Sendable () async throws -> FirmwareImage)
    case upToDate
    /// The check failed, with the reason.
    case failed(String)

    /// There is this update.
    public static func available(_ image: FirmwareImage) -> Self {
        .available(part: image.part) { image }
    }

    var check: UpdateCheck {
        switch self {
        case .available(let part, _):
            FirmwareTarget.Part(rawValue: part).map { .available($0) }
                ?? .failed("the check names part `\(part.visible.prefix(64))`, which no module has")
        case .upToDate: .upToDate
        case .failed(let words): .failed(words)
        }
    }
}

/// The update status of a connected module, no matter which program performs the update.
public enum ModuleUpdateStatus: Sendable, Hashable {
    case moduleNotConnected
    /// The check for updates is running.
    case fetchingUpdateInfo
    /// The check failed, so it is not known whether there is an update.
    case checkFailed(String)
    case available(part: String)
    case upToDate
    /// An update by this program: its step, and the progress of that from 0 to 100.
    case ongoing(part: String, Step, percent: Double)
    /// The module hands an image on to a part of its vehicle, which takes minutes.
    case moduleUpdatingComponent

    /// The steps of an update, in order.
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
