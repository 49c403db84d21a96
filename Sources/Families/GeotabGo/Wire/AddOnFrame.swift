import Base

/// One frame of the add-on protocol: type, length, body, and a Fletcher checksum over these.
package struct AddOnFrame: Equatable, Sendable {
    package let type: AddOnType
    package let body: [UInt8]

    /// Throws `length` when a frame of this type cannot have a body of this length.
    package init(_ type: AddOnType, _ body: [UInt8] = []) throws(AddOnFrameError) {
        guard type.bodyLengths.contains(body.count) else {
            throw .length(body.count, type: type.rawValue)
        }
        self.type = type
        self.body = body
    }

    private init(unchecked type: AddOnType, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }

    /// Requests the handshake.
    package static let handshakeRequest = AddOnFrame(unchecked: .handshakeRequest, [])
    package static let vehicleDataRequest = AddOnFrame(unchecked: .vehicleDataRequest, [])
    package static let acknowledgement = AddOnFrame(unchecked: .acknowledgement, [])

    /// Announces which device we are and our flags.
    package static func confirmation(
        device: UInt16 = AddOnNumbers.deviceID,
        flags: UInt16 = AddOnNumbers.wantsAcknowledgement
    ) -> AddOnFrame {
        AddOnFrame(unchecked: .confirmation, device.littleBytes + flags.littleBytes)
    }

    package static func reply(accepted: Bool) -> AddOnFrame {
        AddOnFrame(unchecked: .reply, [accepted ? 1 : 0, 0, 0, 0])
    }

    // MARK: Bytes

    package var bytes: [UInt8] {
        var bytes = [AddOnNumbers.start, type.rawValue]
        bytes.reserveCapacity(body.count + 7)
        let length = UInt16(truncatingIfNeeded: body.count)
        bytes += type.isExtended ? length.littleBytes : [UInt8(truncatingIfNeeded: length)]
        bytes += body
        let (first, second) = Self.checksum(of: bytes)
        return bytes + [first, second, AddOnNumbers.end]
    }

    /// Reads the bytes of exactly one frame and checks all of it.
    package init(
        _ bytes: [UInt8],
        sums: AddOnSums = .trusting
    ) throws(AddOnFrameError) {
        guard let header = try AddOnHeader(bytes) else {
            throw .truncated(got: bytes.count, of: nil)
        }
        guard bytes.count >= header.total else {
            throw .truncated(got: bytes.count, of: header.total)
        }
        guard bytes.count == header.total else {
            throw .excess(got: bytes.count, of: header.total)
        }
        let tail = header.total - 3
        guard bytes[tail + 2] == AddOnNumbers.end else { throw .end(bytes[tail + 2]) }
        let body = Array(bytes[header.bodyOffset..<tail])
        if !sums.excuses(header.type, bytes[tail], bytes[tail + 1]) {
            let (first, second) = Self.checksum(of: bytes[..<tail])
            guard bytes[tail] == first, bytes[tail + 1] == second else { throw .checksum }
        }
        self.init(unchecked: header.type, body)
    }

    /// Two sums modulo 256: the first over the bytes, the second over the values of the first.
    package static func checksum(of bytes: some Sequence<UInt8>) -> (UInt8, UInt8) {
        var (first, second) = (UInt8(0), UInt8(0))
        for byte in bytes {
            first &+= byte
            second &+= first
        }
        return (first, second)
    }
}

/// How the checksum of a frame is checked.
package enum AddOnSums: Sendable, Equatable {
    /// Every frame must have the right checksum.
    case strict
    /// A reply (accepted or rejected) may have two zeros as its checksum, because some peers send
    /// it that way.
    case trusting

    fileprivate func excuses(_ type: AddOnType, _ first: UInt8, _ second: UInt8) -> Bool {
        switch self {
        case .strict: false
        case .trusting: type == .reply && first == 0 && second == 0
        }
    }
}

/// The part of a frame before its body.
struct AddOnHeader {
    let type: AddOnType
    /// The length of the whole frame, from its first byte to its last.
    let total: Int
    let bodyOffset: Int

    /// Nil while there are too few bytes to decide.
    init?(_ bytes: [UInt8]) throws(AddOnFrameError) {
        guard let start = bytes.first else { return nil }
        guard start == AddOnNumbers.start else { throw .start(start) }
        guard bytes.count > 1 else { return nil }
        guard let type = AddOnType(rawValue: bytes[1]) else { throw .type(bytes[1]) }
        self.type = type
        bodyOffset = type.isExtended ? 4 : 3
        guard bytes.count >= bodyOffset else { return nil }
        let length = type.isExtended ? Int(bytes[2]) | Int(bytes[3]) << 8 : Int(bytes[2])
        guard type.bodyLengths.contains(length) else {
            throw .length(length, type: type.rawValue)
        }
        total = bodyOffset + length + 3
    }
}

/// Why bytes are not a frame.
package enum AddOnFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An empty write.
    case empty
    /// The first byte is not the start byte.
    case start(UInt8)
    /// An unknown type.
    case type(UInt8)
    /// A length that frames of this type cannot have.
    case length(Int, type: UInt8)
    /// It ends early; the expected length is not always known.
    case truncated(got: Int, of: Int?)
    case excess(got: Int, of: Int)
    case checksum
    /// The last byte is not the end byte.
    case end(UInt8)

    package var description: String {
        switch self {
        case .empty: "a write without a byte"
        case .start(let byte): "a frame that begins with 0x\(Hex.text([byte])), not 0x02"
        case .type(let byte): "a frame of the unknown type 0x\(Hex.text([byte]))"
        case .length(let length, let type):
            "a frame of type 0x\(Hex.text([type])) with a body of \(length) bytes"
        case .truncated(let got, let total?): "a frame that ends after \(got) of \(total) bytes"
        case .truncated(let got, nil): "a frame that ends after \(got) bytes"
        case .excess(let got, let total): "\(got) bytes in place of a frame of \(total)"
        case .checksum: "a frame with a wrong checksum"
        case .end(let byte): "a frame that ends with 0x\(Hex.text([byte])), not 0x03"
        }
    }
}
