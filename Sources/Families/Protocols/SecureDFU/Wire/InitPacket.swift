package import Base

/// A fault in an init packet that is found before radio work.
package enum InitPacketError: Error, Equatable, Sendable {
    case notProtobuf(ProtobufError)
    case missing(String)
    /// An operation other than `init`.
    case operation(UInt64)
    case unknownType(UInt64)
    case unknownHash(UInt64)
    case hashLength(Int)
    case unknownSignature(UInt64)
    case signatureLength(Int)
    case outOfRange(String)
    /// A signed and an unsigned command in one packet.
    case twoCommands
    /// A field that is present more than once.
    case repeated(UInt32)
}

/// The signed description of an image, which a Secure DFU target checks before it accepts the
/// image.
package struct InitPacket: Equatable, Sendable {
    package enum ImageType: UInt64, CaseIterable, Sendable {
        case application, softDevice, bootloader, softDeviceAndBootloader, external

        package var words: String {
            switch self {
            case .application: "an application"
            case .softDevice: "a SoftDevice"
            case .bootloader: "a bootloader"
            case .softDeviceAndBootloader: "a SoftDevice and a bootloader"
            case .external: "an external application"
            }
        }
    }

    package enum Signature: Equatable, Sendable {
        /// r and s, each little-endian.
        case ecdsaP256([UInt8])
        case ed25519([UInt8])
    }

    package private(set) var firmwareVersion: UInt32?
    package private(set) var hardwareVersion: UInt32?
    package private(set) var requiredSoftDevices: [UInt32] = []
    package private(set) var type: ImageType
    package private(set) var softDeviceSize: UInt32?
    package private(set) var bootloaderSize: UInt32?
    package private(set) var applicationSize: UInt32?
    /// SHA-256 of the image in the usual byte order: the packet contains it reversed.
    package private(set) var digest: SHA256Digest
    package private(set) var isDebug = false
    package var signature: Signature?
    /// The bytes that the signature covers: the serialized init command, exactly as in the packet.
    package private(set) var signedBytes: [UInt8]

    /// The version in the packet, in the form that people write.
    package var version: FirmwareVersion? { firmwareVersion.map { FirmwareVersion(packed: $0) } }

    /// The number of firmware bytes that the packet announces: the sum of the parts that its type
    /// has.
    package var firmwareSize: Int {
        let sizes: [UInt32?] =
            switch type {
            case .application, .external: [applicationSize]
            case .softDevice: [softDeviceSize]
            case .bootloader: [bootloaderSize]
            case .softDeviceAndBootloader: [softDeviceSize, bootloaderSize]
            }
        return sizes.reduce(0) { $0 + Int($1 ?? 0) }
    }

    package init(
        type: ImageType,
        applicationSize: UInt32,
        bootloaderSize: UInt32? = nil,
        softDeviceSize: UInt32? = nil,
        digest: SHA256Digest,
        firmwareVersion: UInt32? = nil,
        hardwareVersion: UInt32? = nil,
        requiredSoftDevices: [UInt32] = []
    ) {
        self.type = type
        self.applicationSize = applicationSize
        self.bootloaderSize = bootloaderSize
        self.softDeviceSize = softDeviceSize
        self.digest = digest
        self.firmwareVersion = firmwareVersion
        self.hardwareVersion = hardwareVersion
        self.requiredSoftDevices = requiredSoftDevices
        signedBytes = []
        signedBytes = command.serialized
    }
}

// MARK: Reading

extension InitPacket {
    package init(_ bytes: [UInt8]) throws(InitPacketError) {
        let packet = try Self.fields(bytes)
        let command: [UInt8]
        guard packet.bytes(1) == nil || packet.bytes(2) == nil else { throw .twoCommands }
        if let signed = packet.bytes(2) {
            let envelope = try Self.fields(signed)
            command = try Self.present(envelope.bytes(1), "the signed command")
            signature = try Self.signature(envelope)
        } else {
            command = try Self.present(packet.bytes(1), "the command")
            signature = nil
        }
        let outer = try Self.fields(command)
        let operation = outer.varint(1) ?? 0
        guard operation == 1 else { throw .operation(operation) }
        signedBytes = try Self.present(outer.bytes(2), "the init command")
        let fields = try Self.fields(signedBytes, lists: [3, 10])
        firmwareVersion = try Self.word(fields, 1, "the firmware version")
        hardwareVersion = try Self.word(fields, 2, "the hardware version")
        guard let devices = fields.varints(3) else { throw .outOfRange("the SoftDevice list") }
        requiredSoftDevices = try devices.map { (value) throws(InitPacketError) in
            guard let id = UInt32(exactly: value) else { throw .outOfRange("a SoftDevice") }
            return id
        }
        let rawType = fields.varint(4) ?? 0
        guard let type = ImageType(rawValue: rawType) else { throw .unknownType(rawType) }
        self.type = type
        softDeviceSize = try Self.word(fields, 5, "the SoftDevice's size")
        bootloaderSize = try Self.word(fields, 6, "the bootloader's size")
        applicationSize = try Self.word(fields, 7, "the application's size")
        let hash = try Self.fields(try Self.present(fields.bytes(8), "the hash"))
        let hashType = hash.varint(1) ?? 0
        guard hashType == Self.sha256 else { throw .unknownHash(hashType) }
        let reversed = try Self.present(hash.bytes(2), "the hash's bytes")
        guard let digest = SHA256Digest(bytes: reversed.reversed()) else {
            throw .hashLength(reversed.count)
        }
        self.digest = digest
        isDebug = fields.varint(9).map { $0 != 0 } ?? false
    }

    private static let sha256: UInt64 = 3

    /// The fields, each at most once except lists, which are the SoftDevices and the boot
    /// validations: of two values a target might use a different one than we do.
    private static func fields(
        _ bytes: [UInt8],
        lists: Set<UInt32> = []
    ) throws(InitPacketError) -> ProtobufFields {
        let fields: ProtobufFields
        do { fields = try ProtobufFields(bytes) } catch { throw .notProtobuf(error) }
        var seen: Set<UInt32> = []
        for field in fields.fields where !lists.contains(field.number) {
            guard seen.insert(field.number).inserted else { throw .repeated(field.number) }
        }
        return fields
    }

    private static func present<Value>(
        _ value: Value?,
        _ name: String
    ) throws(InitPacketError) -> Value {
        guard let value else { throw .missing(name) }
        return value
    }

    private static func word(
        _ fields: ProtobufFields,
        _ number: UInt32,
        _ name: String
    ) throws(InitPacketError) -> UInt32? {
        guard let value = fields.varint(number) else { return nil }
        guard let word = UInt32(exactly: value) else { throw .outOfRange(name) }
        return word
    }

    private static func signature(
        _ envelope: ProtobufFields
    ) throws(InitPacketError) -> Signature {
        let bytes = try present(envelope.bytes(3), "the signature")
        guard bytes.count == 64 else { throw .signatureLength(bytes.count) }
        // Required, without a default: bootloaders refuse an envelope that does not state the type
        // of its signature.
        let type = try present(envelope.varint(2), "the kind of its signature")
        switch type {
        case 0: return .ecdsaP256(bytes)
        case 1: return .ed25519(bytes)
        default: throw .unknownSignature(type)
        }
    }
}

// MARK: Writing

extension InitPacket {
    private var command: ProtobufFields {
        var fields = ProtobufFields()
        firmwareVersion.map { fields.add(1, UInt64($0)) }
        hardwareVersion.map { fields.add(2, UInt64($0)) }
        if !requiredSoftDevices.isEmpty {
            // Each value of a packed list is written without its key, which is one byte here.
            fields.add(
                3,
                requiredSoftDevices.flatMap { device -> [UInt8] in
                    var one = ProtobufFields()
                    one.add(1, UInt64(device))
                    return Array(one.serialized.dropFirst())
                }
            )
        }
        fields.add(4, type.rawValue)
        fields.add(5, UInt64(softDeviceSize ?? 0))
        fields.add(6, UInt64(bootloaderSize ?? 0))
        fields.add(7, UInt64(applicationSize ?? 0))
        var hash = ProtobufFields()
        hash.add(1, Self.sha256)
        hash.add(2, digest.bytes.reversed())
        fields.add(8, hash.serialized)
        fields.add(9, isDebug ? 1 : 0)
        return fields
    }

    package var serialized: [UInt8] {
        var outer = ProtobufFields()
        outer.add(1, 1)
        outer.add(2, signedBytes)
        var packet = ProtobufFields()
        switch signature {
        case nil:
            packet.add(1, outer.serialized)
        case .ecdsaP256(let bytes)?, .ed25519(let bytes)?:
            var envelope = ProtobufFields()
            envelope.add(1, outer.serialized)
            if case .ed25519? = signature { envelope.add(2, 1) } else { envelope.add(2, 0) }
            envelope.add(3, bytes)
            packet.add(2, envelope.serialized)
        }
        return packet.serialized
    }
}

extension InitPacketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notProtobuf: "the init packet is damaged"
        case .missing(let part): "the init packet lacks \(part)"
        case .operation(let number): "the init packet holds operation \(number), not an image"
        case .unknownType(let number): "the init packet is for an unknown type of image (\(number))"
        case .unknownHash(let number): "the init packet's hash is not SHA-256 (type \(number))"
        case .hashLength(let count): "the init packet's hash has \(count) bytes instead of 32"
        case .unknownSignature(let number):
            "the init packet's signature is of unknown type \(number)"
        case .signatureLength(let count):
            "the init packet's signature has \(count) bytes instead of 64"
        case .outOfRange(let part): "\(part) in the init packet is out of range"
        case .twoCommands: "the init packet holds a signed and an unsigned command"
        case .repeated(let number): "field \(number) of the init packet stands there twice"
        }
    }
}

extension FirmwareVersion {
    /// The version as one number, in the packaging tool's form: 4.12.0 is 41200; nil when it does
    /// not fit.
    package var packed: UInt32? {
        guard minor < 100, patch < 100, build == 0, major < 400_000 else { return nil }
        return major * 10_000 + minor * 100 + patch
    }

    /// The version that such a number contains.
    package init(packed: UInt32) {
        self.init(packed / 10_000, packed / 100 % 100, packed % 100)
    }
}
