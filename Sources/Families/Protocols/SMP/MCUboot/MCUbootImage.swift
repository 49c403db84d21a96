package import Base

/// The contents of an MCUboot image; its hash is not checked here, but where digests can be
/// computed.
package struct MCUbootImage: Equatable, Sendable {
    /// Another image that must be present, in at least this version.
    package struct Dependency: Equatable, Sendable {
        package let image: Int
        package let atLeast: FirmwareVersion

        package init(image: Int, atLeast: FirmwareVersion) {
            self.image = image
            self.atLeast = atLeast
        }
    }

    /// The data at the end of a slot, which controls how the bootloader handles the image.
    package struct Trailer: Equatable, Sendable {
        /// Whether the image would run permanently without a trial.
        package let isConfirmed: Bool
    }

    package let header: MCUbootHeader
    package let values: [MCUbootValue]
    package let hashKind: MCUbootValue.Kind
    /// The hash by which the bootloader and SMP identify the image.
    package let hash: [UInt8]
    /// The hash that the device lists when the image runs: of a compressed image, which the
    /// bootloader decompresses as it installs it, that of the decompressed one.
    package let installedHash: [UInt8]
    package let dependencies: [Dependency]
    package let securityCounter: UInt32?
    /// The offset where the image ends, without padding and trailer.
    package let end: Int
    /// Nil when the file was not padded to the size of its slot.
    package let trailer: Trailer?

    package var version: FirmwareVersion { header.version }

    /// The bytes that the hash covers: the header with its padding, the payload, the protected
    /// values.
    package var hashedRange: Range<Int> { 0..<header.valuesStart + header.protectedSize }

    /// Whether its hash is that of these bytes, from which it was read; the hash of an encrypted image
    /// is the one of its content before encryption.
    package func matches(_ bytes: [UInt8]) -> Bool {
        let hashed = Array(bytes[hashedRange])
        return switch hashKind {
        case .sha384: LongDigest.sha384.digest(of: hashed) == hash
        case .sha512: LongDigest.sha512.digest(of: hashed) == hash
        default: SHA256.digest(of: hashed).bytes == hash
        }
    }

    package var signatures: [MCUbootValue.Kind] {
        values.map(\.kind).filter(\.isSignature)
    }

    /// Whether its payload is encrypted and the image contains the key for it.
    package var isEncrypted: Bool {
        header.flags.isEncrypted && values.contains { $0.kind.isEncryptionKey }
    }

    package init(_ bytes: [UInt8]) throws(MCUbootError) {
        header = try MCUbootHeader(bytes[...])
        let start = header.valuesStart
        guard start <= bytes.count else {
            throw MCUbootError(.endsEarly(needed: start), at: bytes.count)
        }
        var values: [MCUbootValue] = []
        var position = start
        if header.protectedSize > 0 {
            let area = try Self.area(bytes, at: position, magic: 0x6908)
            guard area.count == header.protectedSize else {
                throw MCUbootError(.protectedSizeDiffers, at: position + 2)
            }
            values += try Self.values(bytes, in: area, isProtected: true)
            position = area.upperBound
        }
        let area = try Self.area(bytes, at: position, magic: 0x6907)
        values += try Self.values(bytes, in: area, isProtected: false)
        end = area.upperBound
        self.values = values

        let hashes = values.filter(\.kind.isHash)
        guard let hash = hashes.first else { throw MCUbootError(.noHash, at: area.lowerBound) }
        guard hashes.count == 1 else {
            throw MCUbootError(.severalHashes, at: hashes[1].offset)
        }
        guard hash.bytes.count == hash.kind.hashLength else {
            throw MCUbootError(.badValue(hash.kind), at: hash.offset)
        }
        hashKind = hash.kind
        self.hash = hash.bytes
        installedHash =
            header.flags.isCompressed
            ? try Self.decompressedHash(values, length: hash.bytes.count) : hash.bytes
        dependencies = try Self.dependencies(values)
        securityCounter = try Self.counter(values)
        trailer = try MCUbootTrailer.read(bytes, from: area.upperBound)
    }

    /// The range of an area of values, including its header.
    private static func area(
        _ bytes: [UInt8],
        at start: Int,
        magic: UInt16
    ) throws(MCUbootError) -> Range<Int> {
        guard bytes.count - start >= 4 else {
            throw MCUbootError(.endsEarly(needed: start + 4), at: bytes.count)
        }
        guard number(bytes, at: start) == magic else {
            throw MCUbootError(.badValuesMagic, at: start)
        }
        let length = Int(number(bytes, at: start + 2))
        guard length >= 4 else { throw MCUbootError(.badValuesLength, at: start + 2) }
        guard bytes.count - start >= length else {
            throw MCUbootError(.endsEarly(needed: start + length), at: bytes.count)
        }
        return start..<start + length
    }

    private static func values(
        _ bytes: [UInt8],
        in area: Range<Int>,
        isProtected: Bool
    ) throws(MCUbootError) -> [MCUbootValue] {
        var values: [MCUbootValue] = []
        var position = area.lowerBound + 4
        while position < area.upperBound {
            guard area.upperBound - position >= 4 else {
                throw MCUbootError(.badValuesLength, at: position)
            }
            let length = Int(number(bytes, at: position + 2))
            guard area.upperBound - position - 4 >= length else {
                throw MCUbootError(.badValuesLength, at: position + 2)
            }
            let start = position + 4
            values.append(
                MCUbootValue(
                    kind: MCUbootValue.Kind(rawValue: number(bytes, at: position)),
                    bytes: Array(bytes[start..<start + length]),
                    isProtected: isProtected,
                    offset: position
                )
            )
            position = start + length
        }
        return values
    }

    /// Two bytes; the caller has checked that they are present.
    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt16 {
        UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
    }

    /// It has the kind of the image's own hash.
    private static func decompressedHash(
        _ values: [MCUbootValue],
        length: Int
    ) throws(MCUbootError) -> [UInt8] {
        let hashes = values.filter { $0.kind == .decompressedHash }
        guard let hash = hashes.first else {
            throw MCUbootError(.noDecompressedHash, at: values[0].offset)
        }
        guard hashes.count == 1 else {
            throw MCUbootError(.duplicateValue(.decompressedHash), at: hashes[1].offset)
        }
        guard hash.bytes.count == length else {
            throw MCUbootError(.badValue(.decompressedHash), at: hash.offset)
        }
        return hash.bytes
    }

    private static func dependencies(
        _ values: [MCUbootValue]
    ) throws(MCUbootError) -> [Dependency] {
        var dependencies: [Dependency] = []
        for value in values where value.kind == .dependency {
            var reader = ByteReader(value.bytes)
            do throws(OutOfBytes) {
                guard value.bytes.count == 12 else { throw OutOfBytes(offset: 0, needed: 12) }
                let image = Int(try reader.byte())
                _ = try reader.bytes(3)
                let version = FirmwareVersion(
                    UInt32(try reader.byte()),
                    UInt32(try reader.byte()),
                    UInt32(try reader.little(UInt16.self)),
                    build: try reader.little()
                )
                dependencies.append(Dependency(image: image, atLeast: version))
            } catch {
                throw MCUbootError(.badValue(.dependency), at: value.offset)
            }
        }
        return dependencies
    }

    private static func counter(_ values: [MCUbootValue]) throws(MCUbootError) -> UInt32? {
        let counters = values.filter { $0.kind == .securityCounter }
        guard let counter = counters.first else { return nil }
        guard counters.count == 1 else {
            throw MCUbootError(.duplicateValue(.securityCounter), at: counters[1].offset)
        }
        var reader = ByteReader(counter.bytes)
        guard counter.bytes.count == 4, let value = try? reader.little(UInt32.self) else {
            throw MCUbootError(.badValue(.securityCounter), at: counter.offset)
        }
        return value
    }
}
