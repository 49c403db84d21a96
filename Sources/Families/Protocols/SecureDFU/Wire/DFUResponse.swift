import Base

/// A notification of the control point: the answer to a request, or a receipt for packets.
package enum DFUResponse: Equatable, Sendable {
    /// Answers create, set receipt interval, execute and all other requests without a value.
    case done(DFUOperation)
    /// Answers a checksum request, and is sent unasked as a receipt: both count from byte 0.
    case checksum(offset: UInt32, crc: UInt32)
    case selected(maximumSize: UInt32, offset: UInt32, crc: UInt32)
    case failed(operation: UInt8, DFUFault)
}

/// Why bytes are not a control point notification.
package enum DFUResponseError: Error, Equatable, Sendable {
    /// Shorter than the three bytes that every response has.
    case short(Int)
    /// The first byte is not the response code 60.
    case notAResponse(UInt8)
    case unknownOperation(UInt8)
    /// A success with a payload of the wrong length for the operation.
    case wrongLength(operation: UInt8, length: Int)
}

extension DFUResponse {
    private static let code: UInt8 = 0x60

    package init(_ bytes: [UInt8]) throws(DFUResponseError) {
        guard bytes.count >= 3 else { throw .short(bytes.count) }
        guard bytes[0] == Self.code else { throw .notAResponse(bytes[0]) }
        guard let operation = DFUOperation(rawValue: bytes[1]) else {
            throw .unknownOperation(bytes[1])
        }
        guard bytes[2] == DFUFault.successCode else {
            self = .failed(
                operation: bytes[1],
                DFUFault(code: bytes[2], extended: bytes[3...].first)
            )
            return
        }
        let wrong = DFUResponseError.wrongLength(operation: bytes[1], length: bytes.count)
        func word(_ index: Int) -> UInt32 {
            bytes[(3 + 4 * index)..<(7 + 4 * index)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        switch operation {
        case .checksum:
            guard bytes.count == 11 else { throw wrong }
            self = .checksum(offset: word(0), crc: word(1))
        case .select:
            guard bytes.count == 15 else { throw wrong }
            self = .selected(maximumSize: word(0), offset: word(1), crc: word(2))
        case .create, .setReceiptInterval, .execute, .abort, .protocolVersion:
            self = .done(operation)
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .done(let operation):
            [Self.code, operation.rawValue, DFUFault.successCode]
        case .checksum(let offset, let crc):
            [Self.code, DFUOperation.checksum.rawValue, DFUFault.successCode]
                + offset.littleBytes + crc.littleBytes
        case .selected(let size, let offset, let crc):
            [Self.code, DFUOperation.select.rawValue, DFUFault.successCode]
                + size.littleBytes + offset.littleBytes + crc.littleBytes
        case .failed(let operation, let fault):
            [Self.code, operation] + fault.bytes
        }
    }
}

/// A result of the control point other than success.
package enum DFUFault: Error, Hashable, Sendable {
    case result(DFUResult)
    case extended(DFUExtendedError)
    /// A code that the protocol does not define.
    case unknown(UInt8, extended: UInt8?)

    static let successCode: UInt8 = 0x01
    private static let extendedCode: UInt8 = 0x0B

    init(code: UInt8, extended: UInt8?) {
        if code == Self.extendedCode, let extended,
            let error = DFUExtendedError(rawValue: extended)
        {
            self = .extended(error)
        } else if let result = DFUResult(rawValue: code) {
            self = .result(result)
        } else {
            self = .unknown(code, extended: extended)
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .result(let result): [result.rawValue]
        case .extended(let error): [Self.extendedCode, error.rawValue]
        case .unknown(let code, let extended): [code] + (extended.map { [$0] } ?? [])
        }
    }
}

/// The result codes of the control point.
package enum DFUResult: UInt8, CaseIterable, Sendable {
    case invalid = 0x00
    case notSupported = 0x02
    case invalidParameter = 0x03
    case insufficientResources = 0x04
    case invalidObject = 0x05
    case signatureMismatch = 0x06
    case unsupportedType = 0x07
    case notPermitted = 0x08
    case failed = 0x0A
}

/// The byte after the result code 0B.
package enum DFUExtendedError: UInt8, CaseIterable, Sendable {
    case none = 0x00
    case wrongFormat = 0x02
    case unknownCommand = 0x03
    case initInvalid = 0x04
    case firmwareVersion = 0x05
    case hardwareVersion = 0x06
    case softDeviceVersion = 0x07
    case signatureMissing = 0x08
    case hashType = 0x09
    case hashFailed = 0x0A
    case signatureType = 0x0B
    case verificationFailed = 0x0C
    case insufficientSpace = 0x0D
}

extension DFUFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .result(let result): result.sentence
        case .extended(let error): error.sentence
        case .unknown(let code, let extended):
            "the bootloader answered with the unknown code \(code)"
                + (extended.map { " (\($0))" } ?? "")
        }
    }
}

extension DFUResult {
    fileprivate var sentence: String {
        switch self {
        case .invalid: "the bootloader calls the request invalid"
        case .notSupported: "the bootloader does not know the request"
        case .invalidParameter: "the bootloader does not accept a parameter of the request"
        case .insufficientResources: "the object is larger than the bootloader takes"
        case .invalidObject: "the bootloader does not accept the init packet or its signature"
        case .signatureMismatch: "the signature of the image does not fit"
        case .unsupportedType: "the bootloader does not know this type of object"
        case .notPermitted: "the bootloader does not permit the request in its present state"
        case .failed: "the bootloader failed"
        }
    }
}

extension DFUExtendedError {
    fileprivate var sentence: String {
        switch self {
        case .none: "the bootloader failed and gives no reason"
        case .wrongFormat: "the request is malformed for the bootloader"
        case .unknownCommand: "the init packet holds an unknown command"
        case .initInvalid: "the init packet is incomplete or invalid"
        case .firmwareVersion: "the module has this version or a newer one and refuses to go back"
        case .hardwareVersion: "the image is for other hardware"
        case .softDeviceVersion: "the image needs another SoftDevice than the module has"
        case .signatureMissing: "the image is not signed, and the module wants a signature"
        case .hashType: "the image uses a hash that the bootloader does not know"
        case .hashFailed: "the bootloader could not compute the hash"
        case .signatureType: "the image's kind of signature is unknown to the bootloader"
        case .verificationFailed: "the image in the module is not the one that was signed"
        case .insufficientSpace: "the image is too large for the module"
        }
    }
}
