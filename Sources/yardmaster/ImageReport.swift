import Domain
import Images
import Protocols
import Wire

/// What there is to tell of an image file, for people and for programs.
struct ImageReport {
    enum Kind: String {
        case secureDFU = "secure-dfu"
        case mcuboot
        case ncs

        var words: String {
            switch self {
            case .secureDFU: "a Nordic Secure DFU package"
            case .mcuboot: "an MCUboot image"
            case .ncs: "a package of MCUboot images"
            }
        }
    }

    /// One thing known of a part.
    struct Fact {
        let name: String
        let text: String
        let key: String
        let value: JSONValue

        init(_ name: String, _ text: String, _ key: String, _ value: JSONValue? = nil) {
            self.name = name
            self.text = text
            self.key = key
            self.value = value ?? .string(text)
        }
    }

    struct Part {
        let title: String
        let facts: [Fact]
    }

    let kind: Kind
    let parts: [Part]
    let warnings: [String]
    /// All hashes hold; false where the content of one is encrypted.
    let isChecked: Bool

    init(_ image: InspectedImage) {
        switch image {
        case .secureDFU(let parts):
            kind = .secureDFU
            isChecked = true
            self.parts = parts.map(Self.part)
            warnings = parts.filter { $0.packet.signature == nil }
                .map { "the part \($0.kind.rawValue) has no signature" }
        case .mcuboot(let file):
            kind = .mcuboot
            isChecked = file.isChecked
            parts = [Part(title: "image", facts: Self.facts(file))]
            warnings = file.warnings
        case .ncs(let package):
            kind = .ncs
            isChecked = package.parts.allSatisfy(\.file.isChecked)
            parts = package.parts.map { part in
                var facts = [
                    Fact("file", part.name, "file"),
                    Fact("image", "\(part.image)", "image", .int(part.image)),
                ]
                if let slot = part.slot {
                    facts.append(Fact("slot", "\(slot)", "slot", .int(slot)))
                }
                if let type = part.type { facts.append(Fact("type", type, "type")) }
                if let board = part.board { facts.append(Fact("board", board, "board")) }
                if let soc = part.soc { facts.append(Fact("soc", soc, "soc")) }
                return Part(title: part.name, facts: facts + Self.facts(part.file))
            }
            warnings =
                package.parts.flatMap { part in
                    part.file.warnings.map { "\(part.name): \($0)" }
                } + package.unlisted.map { "the manifest does not list \($0); it is not sent" }
        }
    }

    private static func part(_ part: InspectedImage.SecureDFUPart) -> Part {
        let packet = part.packet
        var facts = [Fact("part", part.kind.rawValue, "part")]
        if let packed = packet.firmwareVersion {
            facts.append(
                Fact("version", FirmwareVersion(packed: packed).description, "version")
            )
        }
        if let hardware = packet.hardwareVersion {
            facts.append(
                Fact("for hardware", "\(hardware)", "hardware", .integer(Int64(hardware)))
            )
        }
        if !packet.requiredSoftDevices.isEmpty {
            facts.append(
                Fact(
                    "needs SoftDevice",
                    packet.requiredSoftDevices.map { "0x" + String($0, radix: 16) }
                        .joined(separator: " or "),
                    "softdevices",
                    .array(packet.requiredSoftDevices.map { .integer(Int64($0)) })
                )
            )
        }
        facts.append(Fact("firmware", "\(part.size) bytes", "size", .int(part.size)))
        facts.append(Fact("SHA-256", packet.digest.description, "sha256"))
        let signature =
            switch packet.signature {
            case .ecdsaP256: "ECDSA P-256"
            case .ed25519: "Ed25519"
            case nil: "none"
            }
        facts.append(Fact("signature", signature, "signature"))
        return Part(title: "part \(part.kind.rawValue)", facts: facts)
    }

    private static func facts(_ file: MCUbootFile) -> [Fact] {
        let image = file.image
        var facts = [
            Fact("version", image.version.description, "version"),
            Fact(
                "payload",
                "\(image.header.imageSize) bytes",
                "size",
                .int(image.header.imageSize)
            ),
            Fact("hash (\(image.hashKind))", Hex.text(image.hash), "hash"),
        ]
        let signatures = image.signatures.map(\.description)
        facts.append(
            Fact(
                "signature",
                signatures.isEmpty ? "none" : signatures.joined(separator: ", "),
                "signatures",
                .array(signatures.map { .string($0) })
            )
        )
        if let key = image.values.first(where: { $0.kind == .keyHash }) {
            facts.append(Fact("signed by the key with hash", Hex.text(key.bytes), "keyHash"))
        }
        if let counter = image.securityCounter {
            facts.append(
                Fact(
                    "security counter",
                    "\(counter)",
                    "securityCounter",
                    .integer(Int64(counter))
                )
            )
        }
        if !image.dependencies.isEmpty {
            facts.append(
                Fact(
                    "needs",
                    image.dependencies.map { "image \($0.image) \($0.atLeast) or newer" }
                        .joined(separator: ", "),
                    "dependencies",
                    .array(
                        image.dependencies.map {
                            .object([
                                "image": .int($0.image),
                                "atLeast": .string($0.atLeast.description),
                            ])
                        }
                    )
                )
            )
        }
        let flags = image.header.flags
        if flags.isEncrypted { facts.append(Fact("encrypted", "yes", "encrypted", .bool(true))) }
        if flags.isCompressed {
            facts.append(Fact("compressed", "yes", "compressed", .bool(true)))
        }
        if flags.contains(.romFixed) || flags.contains(.ramLoad) {
            let address = image.header.loadAddress
            let place = "0x" + String(address, radix: 16)
            facts.append(
                Fact(
                    "runs at",
                    flags.contains(.ramLoad) ? "\(place), loaded there" : "\(place), where it lies",
                    "address",
                    .integer(Int64(address))
                )
            )
        }
        if let trailer = image.trailer {
            let text = trailer.isConfirmed ? "confirmed" : "for a test"
            facts.append(Fact("trailer", text, "trailer"))
        }
        return facts
    }
}
