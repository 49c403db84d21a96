package import Domain

/// Why an update over SMP was not, or not for good.
package enum SMPUpdateError: Error, Hashable, Sendable {
    case ask(SMPAskError)
    case upload(SMPUploadError)
    /// Larger than its slot.
    case tooLarge(image: Int, size: Int, limit: Int)
    /// The device has no slot for the image.
    case noSlot(image: Int)
    /// None of the files is linked for the slot that is free.
    case noFile(image: Int, slot: Int)
    /// The bootloader starts the highest version, which this is not.
    case notNewer(image: Int, runs: FirmwareVersion, wanted: FirmwareVersion)
    /// The image needs another one in a version that would not be there.
    case dependency(image: Int, on: Int, atLeast: FirmwareVersion)
    /// What arrived is not what was sent.
    case corrupted(image: Int)
    /// It is all there, but the device does not list it.
    case notListed(image: Int)
    /// Another image waits to be started or tried, and does not go away.
    case occupied
    /// The device does not restart though told to.
    case noRestart
    /// It was not heard again after its restart.
    case noReturn
    /// The bootloader did not start the image, and removed it.
    case refusedByBootloader(image: Int)
    /// It ran, or should have, and gave way to the old one.
    case reverted(image: Int)
    /// It runs, but not as it should, and cannot be taken back.
    case unhealthy
    /// It ran, but not as it should, and the old one is back.
    case takenBack
    /// The device does not confirm the image that runs.
    case notConfirmed
    /// The link broke so often without a byte more.
    case interrupted(Int, String)

    package var failureClass: FailureClass {
        switch self {
        case .ask(let error): error.failureClass
        case .upload(let error): error.failureClass
        case .tooLarge, .noSlot, .noFile, .notNewer, .dependency, .refusedByBootloader,
            .occupied:
            .rejected
        case .corrupted, .interrupted: .transient
        case .notListed, .noRestart, .notConfirmed, .unhealthy: .device
        case .noReturn: .noReturn
        case .reverted, .takenBack: .rolledBack
        }
    }
}

extension SMPUpdateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ask(let error): error.description
        case .upload(let error): error.description
        case .tooLarge(let image, let size, let limit):
            "image \(image) has \(size) bytes, its slot takes \(limit)"
        case .noSlot(let image): "the module has no slot for image \(image)"
        case .noFile(let image, let slot):
            "no file of image \(image) is made for slot \(slot), the one that is free"
        case .notNewer(let image, let runs, let wanted):
            "the bootloader starts the highest version: image \(image) is \(runs) there, "
                + "\(wanted) would never run"
        case .dependency(let image, let other, let version):
            "image \(image) needs image \(other) in version \(version) or newer"
        case .corrupted(let image): "image \(image) arrived damaged, by the module's own check"
        case .notListed(let image):
            "image \(image) is all there, but the module does not list it"
        case .occupied: "another image waits in the module and does not go away"
        case .noRestart: "the module does not restart"
        case .noReturn: "the module was not heard again after its restart"
        case .refusedByBootloader(let image):
            "the bootloader refused image \(image): its signature or version is not to its liking"
        case .reverted(let image):
            "image \(image) was started, was not confirmed, and the old one runs again"
        case .unhealthy: "the new image runs but is not healthy, and cannot be taken back"
        case .takenBack: "the new image was not healthy; the old one runs again"
        case .notConfirmed: "the module does not confirm the image that runs"
        case .interrupted(let count, let cause):
            "the update broke \(count) times without getting on: \(cause)"
        }
    }
}
