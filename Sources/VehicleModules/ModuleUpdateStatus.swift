import Base
import Radio

/// The result of a check for updates of a module.
public enum ModuleUpdateCheck: Sendable {
    /// There is an update for this part, for example `secondary`.
    ///
    /// `image` gets its image: `updateFirmware` calls it when the update begins.
    case available(part: String, image: @Sendable () async throws -> FirmwareImage)
    /// There is none: the module runs what it should.
    case upToDate
    /// The check failed, with the reason.
    case failed(String)

    /// There is this update.
    public static func available(_ image: FirmwareImage) -> Self {
        .available(part: image.part) { image }
    }

    /// The same; a part that no module has makes it a failed check.
    var checked: Self {
        guard case .available(let part, _) = self, FirmwareTarget.Part(rawValue: part) == nil else {
            return self
        }
        return .failed("the check names part `\(part.visible.prefix(64))`, which no module has")
    }
}

/// The update status of a connected module, no matter which program performs the update.
public enum ModuleUpdateStatus: Sendable, Hashable {
    /// Nothing is known, because the module is not connected.
    case moduleNotConnected
    /// The check for updates is running.
    case fetchingUpdateInfo
    /// The check failed, so it is not known whether there is an update.
    case checkFailed(String)
    /// There is an update of this part.
    case available(part: String)
    /// The module runs what it should.
    case upToDate
    /// An update by this program: its step, and the progress of that from 0 to 100.
    case ongoing(part: String, Step, percent: Double)
    /// The module hands an image on to a part of its vehicle, which takes minutes.
    case moduleUpdatingComponent

    /// The steps of an update, in order.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// The image is fetched; the module is prepared for it; the image is sent.
        case fetching, initiating, uploading
    }

    var isOngoing: Bool {
        switch self {
        case .ongoing, .moduleUpdatingComponent: true
        case .moduleNotConnected, .fetchingUpdateInfo, .checkFailed, .available, .upToDate: false
        }
    }
}
