package import Base
package import Radio

/// Why an image was not transferred to a legacy bootloader.
package enum LegacyUploadError: Error, Hashable, Sendable {
    /// The request that was being handled when the upload ended.
    package enum Stage: String, Hashable, Sendable {
        case start = "beginning the transfer"
        case sizes = "erasing for the image"
        case initPacket = "taking the init packet"
        case data = "taking the image"
        case validation = "checking the image"
        case activation = "starting the image"
    }

    case refused(Stage, LegacyResult)
    /// An earlier attempt was not cleared; it is cleared now.
    case earlierAttempt
    case noAnswer(Stage)
    /// The number of bytes that the bootloader counted differs from the number sent: packets are
    /// missing.
    case lostPackets(sent: Int, counted: Int)
    case malformed([UInt8])
    /// There is no image or no init packet, or the image does not consist of whole words.
    case unfit(String)
    case link(Stage, LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused(.initPacket, _), .refused(.sizes, .dataSize), .refused(.start, .dataSize):
            .rejected
        case .refused(.data, .failed), .refused(.data, .dataSize), .refused(.validation, .crcError),
            .refused(.data, .notSupported), .earlierAttempt, .noAnswer, .lostPackets:
            .transient
        case .refused, .malformed: .device
        case .unfit: .integrity
        case .link(_, let failure): failure.failureClass
        }
    }

    /// Packets were lost, or arrived faster than they could be written: a slower flow may help.
    package var isTooFast: Bool {
        switch self {
        case .refused(.data, .failed), .refused(.data, .dataSize), .refused(.validation, .crcError),
            .lostPackets, .noAnswer(.data):
            true
        case .refused, .earlierAttempt, .noAnswer, .malformed, .unfit, .link: false
        }
    }
}

extension LegacyUploadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let stage, let result): "\(stage.rawValue): \(result)"
        case .earlierAttempt: "the bootloader had an attempt of before, which is cleared now"
        case .noAnswer(let stage): "\(stage.rawValue): no answer in time"
        case .lostPackets(let sent, let counted):
            "the bootloader counts \(counted) bytes where \(sent) were sent"
        case .malformed(let bytes):
            "the bootloader's notification makes no sense: \(Hex.text(bytes.prefix(20)))"
        case .unfit(let sentence): sentence
        case .link(let stage, let failure): "\(stage.rawValue): \(failure)"
        }
    }
}
