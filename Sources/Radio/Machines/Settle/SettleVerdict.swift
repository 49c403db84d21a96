package import Base

/// The result of settling.
package enum SettleVerdict: Equatable, Sendable {
    /// At rest, and the target version was read twice.
    case confirmed(FirmwareVersion)
    /// Never seen since the upload, not connected at the deadline, or connected without an answer.
    case noReturn
    /// At rest with another version than the target.
    case wrongVersion(FirmwareVersion)
    /// At rest with the target version, but with another build of it.
    case otherBuild(FirmwareVersion)
    /// At rest with another version, and the image was removed: the bootloader rejected it.
    case refused(runs: FirmwareVersion)
    /// The target version was read after the upload, and then another one.
    case rolledBack(to: FirmwareVersion)
    /// Connected at the deadline but not at rest, with the last version that was read.
    case stillOngoing(FirmwareVersion?)

    /// Nil when the update is proven.
    package var failureClass: FailureClass? {
        switch self {
        case .confirmed: nil
        case .noReturn, .stillOngoing: .noReturn
        case .wrongVersion, .otherBuild, .refused: .wrongVersion
        case .rolledBack: .rolledBack
        }
    }

    package var outcome: Outcome {
        switch self {
        case .confirmed: .succeeded
        case .noReturn, .wrongVersion, .otherBuild, .refused: .failed
        case .rolledBack: .rolledBack
        case .stillOngoing: .timedOut
        }
    }
}

extension SettleVerdict: CustomStringConvertible {
    package var description: String {
        switch self {
        case .confirmed(let version): "the module runs \(version)"
        case .noReturn: "the image was complete, and the module did not come back in time"
        case .wrongVersion(let found): "the module came back with \(found)"
        case .otherBuild(let found):
            "the module came back with \(found), but not with the build of it that was sent"
        case .refused(let found):
            "its bootloader refused the image and removed it; the module came back with \(found)"
        case .rolledBack(let found): "the module ran the new version and went back to \(found)"
        case .stillOngoing(nil): "the module was still busy with the update at the deadline"
        case .stillOngoing(let found?):
            "the module answers with \(found) but had not come to rest at the deadline"
        }
    }
}
