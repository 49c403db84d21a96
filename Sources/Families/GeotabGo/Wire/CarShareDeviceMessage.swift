import Base

/// A signed command as it is sent to the vehicle: two signatures, each before the bytes that it
/// signs.
package struct CarShareDeviceMessage: Equatable, Sendable {
    /// First four bytes of the hash of the tenant's key.
    package let tenantHash: [UInt8]
    package let reservationSignature: [UInt8]
    /// The reservation, exactly as its issuer serialized and signed it.
    package let reservation: [UInt8]
    /// First four bytes of the hash of the reservation's own key.
    package let reservationHash: [UInt8]
    package let commandSignature: [UInt8]
    package let command: [UInt8]

    package enum Fault: Error, Hashable, Sendable {
        /// A part ends early, or bytes are left over.
        case length
        case version(UInt16)
        /// A checksum over a signature and the signed bytes is wrong.
        case checksum
    }

    /// Of longer hashes the first four bytes are used; nil when a hash is shorter or a part too
    /// long.
    package init?(
        tenantHash: [UInt8],
        reservationSignature: [UInt8],
        reservation: [UInt8],
        reservationHash: [UInt8],
        commandSignature: [UInt8],
        command: [UInt8]
    ) {
        guard tenantHash.count >= 4, reservationHash.count >= 4, reservation.count <= 65_535,
            command.count <= 65_535
        else { return nil }
        self.tenantHash = Array(tenantHash.prefix(4))
        self.reservationSignature = reservationSignature
        self.reservation = reservation
        self.reservationHash = Array(reservationHash.prefix(4))
        self.commandSignature = commandSignature
        self.command = command
    }

    /// The length of a message with these parts.
    package static func length(
        signatures: Int,
        reservation: Int,
        command: Int
    ) -> Int {
        2 * (2 + 4 + 2 + 4) + signatures + reservation + command
    }

    package var bytes: [UInt8] {
        Self.part(tenantHash, reservationSignature, reservation)
            + Self.part(reservationHash, commandSignature, command)
    }

    private static func part(_ hash: [UInt8], _ signature: [UInt8], _ text: [UInt8]) -> [UInt8] {
        // The only number in these messages with its most significant byte first.
        let crc = CRC32.of(signature + text).bigBytes
        return UInt16(1).littleBytes + hash + signature
            + UInt16(truncatingIfNeeded: text.count).littleBytes + crc + text
    }

    /// Parses a message; the message does not contain the length of the signatures.
    package init(_ bytes: [UInt8], signatureLength: Int = 256) throws(Fault) {
        var reader = ByteReader(bytes)
        let first = try Self.read(&reader, signatureLength)
        let second = try Self.read(&reader, signatureLength)
        guard reader.isAtEnd else { throw .length }
        tenantHash = first.hash
        reservationSignature = first.signature
        reservation = first.text
        reservationHash = second.hash
        commandSignature = second.signature
        command = second.text
    }

    private struct Part {
        let hash: [UInt8]
        let signature: [UInt8]
        let text: [UInt8]
    }

    private static func read(
        _ reader: inout ByteReader,
        _ signatureLength: Int
    ) throws(Fault) -> Part {
        let version: UInt16
        let crc: UInt32
        let part: Part
        do throws(OutOfBytes) {
            version = try reader.little()
            let hash = try reader.bytes(4)
            let signature = try reader.bytes(signatureLength)
            let length: UInt16 = try reader.little()
            crc = try reader.big()
            part = Part(hash: hash, signature: signature, text: try reader.bytes(Int(length)))
        } catch {
            throw .length
        }
        guard version == 1 else { throw .version(version) }
        guard CRC32.of(part.signature + part.text) == crc else { throw .checksum }
        return part
    }
}
