package import Base

/// Why an update over SMP failed, or did not last.
package enum SMPUpdateError: Error, Hashable, Sendable {
    case ask(SMPAskError)
    case upload(SMPUploadError)
    /// The image is larger than its slot.
    case tooLarge(image: Int, size: Int, limit: Int)
    /// The device has no slot for the image.
    case noSlot(image: Int)
    /// None of the files is linked for the slot that is free.
    case noFile(image: Int, slot: Int)
    /// The bootloader starts the highest version, and this one is not higher.
    case notNewer(image: Int, runs: FirmwareVersion, wanted: FirmwareVersion)
    /// The image depends on another one in a version that would be missing.
    case dependency(image: Int, on: Int, atLeast: FirmwareVersion)
    /// The image was damaged in the transfer.
    case corrupted(image: Int)
    /// The image is complete, but the device does not list it.
    case notListed(image: Int)
    /// Another image waits to be started or is on trial: the module was restarted to remove it.
    case occupied
    /// The device does not restart, although it received the command.
    case noRestart
    /// The image ran, or should have run, and the old one is back.
    case reverted(image: Int)
    /// The image runs but is unhealthy, and the module cannot return to the old one.
    case unhealthy
    /// The device does not confirm the running image.
    case notConfirmed(SMPFault?)

    package var failureClass: FailureClass {
        switch self {
        case .ask(let error): error.failureClass
        case .upload(let error): error.failureClass
        case .tooLarge, .noSlot, .noFile, .notNewer, .dependency: .rejected
        case .corrupted, .occupied: .transient
        case .notListed, .noRestart, .notConfirmed, .unhealthy: .device
        case .reverted: .rolledBack
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
        case .occupied: "another image waits in the module, which was restarted to be rid of it"
        case .noRestart: "the module does not restart"
        case .reverted(let image):
            "image \(image) was started, was not confirmed, and the old one runs again"
        case .unhealthy: "the new image runs but is not healthy, and cannot be taken back"
        case .notConfirmed(let fault):
            "the module does not confirm the image that runs"
                + (fault.map { ": \($0)" } ?? "")
        }
    }
}
