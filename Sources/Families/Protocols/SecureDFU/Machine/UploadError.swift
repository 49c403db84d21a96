package import Base
package import Radio

/// Why an upload failed.
package enum UploadError: Error, Hashable, Sendable {
    /// The object of an exchange.
    package enum Part: Hashable, Sendable { case initPacket, image }

    /// The bootloader answered a request with something other than success.
    case refused(DFUOperation, of: Part, DFUFault)
    /// No answer to the request arrived in time.
    case noAnswer(DFUOperation, of: Part)
    /// Packets do not get into the radio, or do not arrive at the bootloader.
    case noProgress(acknowledged: Int)
    /// The received data repeatedly differs from the sent data; the offset is the object's start.
    ///
    /// The radio checks every packet, so packets are missing: a slower flow may help.
    case corrupted(of: Part, offset: Int)
    /// The bootloader reports more bytes than the image has, even after the transfer began again.
    case beyondImage(offset: Int)
    case initPacketTooLong(length: Int, maximum: Int)
    /// The bootloader reports an object size of 0.
    case noObjectSize
    /// There is no image or no init packet, or it is too long for the protocol's numbers.
    case unfitLength(of: Part, Int)
    /// A notification that cannot be parsed.
    case malformed([UInt8])
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused(_, _, .extended(let error)): error.failureClass
        case .refused(.execute, .initPacket, .result(.invalidObject)),
            .refused(.execute, .initPacket, .result(.signatureMismatch)), .unfitLength:
            .integrity
        case .refused, .beyondImage, .noObjectSize, .malformed: .device
        case .initPacketTooLong: .rejected
        case .noAnswer, .noProgress, .corrupted: .transient
        case .link(let failure): failure.failureClass
        }
    }
}

extension DFUExtendedError {
    fileprivate var failureClass: FailureClass {
        switch self {
        case .firmwareVersion, .hardwareVersion, .softDeviceVersion, .insufficientSpace: .rejected
        case .wrongFormat, .initInvalid, .signatureMissing, .hashType, .hashFailed, .signatureType,
            .verificationFailed:
            .integrity
        case .none, .unknownCommand: .device
        }
    }
}

extension UploadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let operation, let part, let fault):
            "\(operation.words) \(part.words): \(fault)"
        case .noAnswer(let operation, let part):
            "\(operation.words) \(part.words): no answer in time"
        case .noProgress(let acknowledged):
            "the packets after byte \(acknowledged) do not arrive"
        case .corrupted(.initPacket, _): "the init packet arrives corrupted again and again"
        case .corrupted(.image, let offset):
            "the part of the image from byte \(offset) arrives corrupted again and again"
        case .beyondImage(let offset):
            "the bootloader claims to have \(offset) bytes, more than the image has"
        case .initPacketTooLong(let length, let maximum):
            "the init packet has \(length) bytes, the bootloader takes \(maximum)"
        case .noObjectSize: "the bootloader takes objects of no bytes"
        case .unfitLength(let part, let count): "\(part.words) has \(count) bytes"
        case .malformed(let bytes):
            "the bootloader's notification makes no sense: \(Hex.text(bytes.prefix(20)))"
        case .link(let failure): "in the upload: \(failure)"
        }
    }
}

extension UploadError.Part {
    fileprivate var words: String {
        switch self {
        case .initPacket: "the init packet"
        case .image: "the image"
        }
    }
}

extension DFUOperation {
    fileprivate var words: String {
        switch self {
        case .protocolVersion: "asking for the version for"
        case .create: "creating room for"
        case .setReceiptInterval: "agreeing on receipts for"
        case .checksum: "asking for the checksum of"
        case .execute: "executing"
        case .select: "selecting"
        case .abort: "giving up"
        }
    }
}
