package import Base
package import Radio

/// Why an upload over SMP failed on a link.
package enum SMPUploadError: Error, Hashable, Sendable {
    /// The device answered with an error.
    case refused(SMPFault)
    /// No answer to the data that was sent from this offset on.
    case noAnswer(offset: Int)
    /// Data from this offset on repeatedly does not arrive.
    case noProgress(offset: Int)
    /// The device wants bytes beyond the end of the image.
    case beyondImage(offset: Int)
    /// A message has no room for the beginning of an image.
    case frameTooShort(Int)
    /// An image of this length cannot be sent.
    case unfitLength(Int)
    case malformed(String)
    case link(LinkFailure)

    /// Whether a device answers like this when it takes the first part of a message for the whole.
    package var mayMeanLongMessages: Bool {
        switch self {
        case .refused(.code(.invalid, _)), .refused(.code(.corrupt, _)),
            .refused(.code(.tooLong, _)), .refused(.code(.noMemory, _)),
            .refused(.code(.unknown, _)):
            true
        case .refused, .noAnswer, .noProgress, .beyondImage, .frameTooShort, .unfitLength,
            .malformed, .link:
            false
        }
    }

    package var failureClass: FailureClass {
        switch self {
        case .refused(let fault): fault.failureClass
        case .noAnswer, .noProgress: .transient
        case .beyondImage, .malformed: .device
        case .frameTooShort: .rejected
        case .unfitLength: .integrity
        case .link(let failure): failure.failureClass
        }
    }
}

extension SMPFault {
    /// The failure class of the device's error in an update.
    package var failureClass: FailureClass {
        switch self {
        case .code(.noMemory, _), .code(.timedOut, _), .code(.busy, _): .transient
        case .code(.denied, _), .code(.tooLong, _), .code(.versionTooOld, _),
            .code(.versionTooNew, _), .code(.notSupported, _):
            .rejected
        case .image(.headerMagic), .image(.headerTooShort), .image(.noImage): .integrity
        case .image(.tooLarge), .image(.currentIsNewer), .image(.noFreeSlot),
            .image(.alreadyPending), .image(.confirmDenied), .image(.invalidSlot):
            .rejected
        case .code, .image, .group: .device
        }
    }
}

extension SMPUploadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let fault): "the module refused the image: \(fault)"
        case .noAnswer(let offset): "no answer to what was sent from byte \(offset) on"
        case .noProgress(let offset): "the bytes from \(offset) on do not arrive"
        case .beyondImage(let offset):
            "the module wants byte \(offset), more than the image has"
        case .frameTooShort(let length):
            "a message of \(length) bytes cannot hold the beginning of an image"
        case .unfitLength(let count): "the image has \(count) bytes"
        case .malformed(let what): what
        case .link(let failure): "in the upload: \(failure)"
        }
    }
}
