import Base

/// A message of the command characteristic: always 20 bytes, with a checksum.
package enum ESPCommand: Equatable, Sendable {
    /// An image of `length` bytes follows.
    case start(length: UInt32)
    case stop
    /// The device's answer to a command; the window is more than one sector only if the device
    /// states it.
    case acknowledge(command: UInt16, isAccepted: Bool, window: UInt8)

    package static let length = 20

    package var bytes: [UInt8] {
        var bytes: [UInt8]
        switch self {
        case .start(let length): bytes = UInt16(1).littleBytes + length.littleBytes
        case .stop: bytes = UInt16(2).littleBytes
        case .acknowledge(let command, let isAccepted, let window):
            bytes = UInt16(3).littleBytes + command.littleBytes
            bytes += UInt16(isAccepted ? 0 : 1).littleBytes + [window, 0]
        }
        bytes += [UInt8](repeating: 0, count: Self.length - 2 - bytes.count)
        return bytes + CRC16.of(bytes, from: 0).littleBytes
    }

    package init(_ bytes: [UInt8]) throws(ESPFrameError) {
        guard bytes.count == Self.length else { throw .length(bytes.count) }
        func half(_ start: Int) -> UInt16 { UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8 }
        guard CRC16.of(bytes[..<18], from: 0) == half(18) else { throw .checksum }
        switch half(0) {
        case 1: self = .start(length: UInt32(half(2)) | UInt32(half(4)) << 16)
        case 2: self = .stop
        case 3: self = .acknowledge(command: half(2), isAccepted: half(4) == 0, window: bytes[6])
        case let other: throw .unknown(other)
        }
    }
}

/// The device's answer to a sector.
package struct ESPSectorAck: Equatable, Sendable {
    package enum Status: UInt16, Sendable {
        case accepted, checksum, sector, length
    }

    /// The number of the sector, as it was sent.
    package let sector: UInt16
    package let status: Status
    /// The sector that the device waits for; on success, devices return different numbers here.
    package let wanted: UInt16

    package init(sector: UInt16, status: Status, wanted: UInt16) {
        self.sector = sector
        self.status = status
        self.wanted = wanted
    }

    package init(_ bytes: [UInt8]) throws(ESPFrameError) {
        guard bytes.count == ESPCommand.length else { throw .length(bytes.count) }
        func half(_ start: Int) -> UInt16 { UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8 }
        guard CRC16.of(bytes[..<18], from: 0) == half(18) else { throw .checksum }
        guard let status = Status(rawValue: half(2)) else { throw .unknown(half(2)) }
        self.init(sector: half(0), status: status, wanted: half(4))
    }

    package var bytes: [UInt8] {
        let bytes =
            sector.littleBytes + status.rawValue.littleBytes + wanted.littleBytes
            + [UInt8](repeating: 0, count: 12)
        return bytes + CRC16.of(bytes, from: 0).littleBytes
    }
}

/// Why bytes are not a frame of the protocol.
package enum ESPFrameError: Error, Hashable, Sendable {
    case length(Int)
    case checksum
    case unknown(UInt16)
}

/// Splits a sector into packets.
package enum ESPPackets {
    /// The packets of one sector: number, sequence, data, and a checksum after the last data.
    ///
    /// The last packet has at least one byte of data, and both bytes of the checksum: two known
    /// clients do this wrong.
    package static func packets(
        sector: UInt16,
        _ data: ArraySlice<UInt8>,
        maximumLength: Int
    ) -> [[UInt8]] {
        let room = max(3, min(maximumLength, ESPNumbers.longestValue) - 3)
        var packets: [[UInt8]] = []
        var rest = data
        while rest.count > room - 2 {
            let count = min(room, rest.count - 1)
            packets.append(
                sector.littleBytes + [UInt8(truncatingIfNeeded: packets.count)] + rest.prefix(count)
            )
            rest = rest.dropFirst(count)
        }
        packets.append(
            sector.littleBytes + [ESPNumbers.lastSequence] + rest
                + CRC16.of(data, from: 0).littleBytes
        )
        return packets
    }
}
