package import Base
import Families
package import Images
import Radio

/// The facts about an image file, for people and for programs.
package struct ImageReport {
    /// The kind of the file, for programs and for people.
    package struct Kind {
        package let rawValue: String
        package let words: String

        static let secureDFU = Kind(rawValue: "secure-dfu", words: "a Nordic Secure DFU package")
        static let mcuboot = Kind(rawValue: "mcuboot", words: "an MCUboot image")
        static let ncs = Kind(rawValue: "ncs", words: "a package of MCUboot images")
        static let legacyDFU = Kind(rawValue: "legacy-dfu", words: "a legacy DFU package")
    }

    /// One fact about a part.
    package struct Fact {
        package let name: String
        package let text: String
        package let key: String
        package let value: JSONValue

        init(_ name: String, _ text: String, _ key: String, _ value: JSONValue? = nil) {
            self.name = name
            self.text = text
            self.key = key
            self.value = value ?? .string(text)
        }
    }

    package struct Part {
        package let title: String
        package let facts: [Fact]
    }

    package let kind: Kind
    package let parts: [Part]
    package let warnings: [String]
    /// Whether all hashes were checked and are right; false when the content of an image is
    /// encrypted.
    package let isChecked: Bool

    package init(_ image: InspectedImage) {
        switch image {
        case .secureDFU(let parts):
            kind = .secureDFU
            isChecked = true
            self.parts = parts.map(Self.part)
            warnings = parts.filter { $0.packet.signature == nil }
                .map { "the part \($0.kind.rawValue) has no signature" }
        case .raw(let name, let image):
            kind = Kind(rawValue: name, words: image.content.title)
            isChecked = true
            let facts = image.facts.map { Fact($0.name, $0.value, $0.name) }
            parts = [Part(title: "image", facts: facts)]
            warnings = image.warnings
        case .legacyDFU(let package):
            kind = .legacyDFU
            isChecked = true
            parts = package.parts.map(Self.part)
            warnings = package.parts.compactMap { part in
                if case .signed = part.packet.proof { return nil }
                return "its firmware has no signature; anybody may have made it"
            }
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

    private static func part(_ part: LegacyPackage.Part) -> Part {
        let title =
            part.type.contains(.application)
            ? "application" : part.type.contains(.bootloader) ? "bootloader" : "softdevice"
        let packet = part.packet
        var facts = [Fact("part", title, "part")]
        if let packed = packet.version {
            facts.append(
                Fact("version", FirmwareVersion(packed: packed).description, "version")
            )
        }
        facts.append(Fact("for device type", "\(packet.deviceType)", "hardware"))
        facts.append(
            Fact("firmware", "\(part.firmware.count) bytes", "size", .int(part.firmware.count))
        )
        return Part(title: "part \(title)", facts: facts)
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
        if image.installedHash != image.hash {
            facts.append(
                Fact("hash when installed", Hex.text(image.installedHash), "installedHash")
            )
        }
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
        facts += needs(image.dependencies) + Self.facts(image.header)
        if let trailer = image.trailer {
            let text = trailer.isConfirmed ? "confirmed" : "for a test"
            facts.append(Fact("trailer", text, "trailer"))
        }
        return facts
    }

    private static func needs(_ dependencies: [MCUbootImage.Dependency]) -> [Fact] {
        guard !dependencies.isEmpty else { return [] }
        let text = dependencies.map { "image \($0.image) \($0.atLeast) or newer" }
        let values = dependencies.map {
            JSONValue.object([
                "image": .int($0.image), "atLeast": .string($0.atLeast.description),
            ])
        }
        return [Fact("needs", text.joined(separator: ", "), "dependencies", .array(values))]
    }

    /// What the flags of the header say.
    private static func facts(_ header: MCUbootHeader) -> [Fact] {
        var facts: [Fact] = []
        let flags = header.flags
        if flags.isEncrypted { facts.append(Fact("encrypted", "yes", "encrypted", .bool(true))) }
        if flags.isCompressed {
            facts.append(Fact("compressed", "yes", "compressed", .bool(true)))
        }
        if flags.contains(.romFixed) || flags.contains(.ramLoad) {
            let address = header.loadAddress
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
        return facts
    }
}
