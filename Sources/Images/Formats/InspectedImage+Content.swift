import Base
import Families
package import Radio

extension InspectedImage {
    /// The content that is sent, and the modules that it fits.
    package func content() throws(InspectionError) -> ImageContent {
        switch self {
        case .secureDFU(let parts): Self.content(parts)
        case .mcuboot(let file):
            try Self.content([NCSPackage.Part(file)], "an MCUboot image")
        case .raw(_, let image): image.content
        case .legacyDFU(let package): Self.content(package)
        case .ncs(let package):
            try Self.content(package.parts, "a package of MCUboot images")
        }
    }

    private static func content(_ parts: [SecureDFUPart]) -> ImageContent {
        let uses = parts.map { part -> ImageContent.Use in
            switch part.kind {
            case .application: .application
            case .bootloader, .softdeviceAndBootloader: .bootloader
            case .softdevice: .radio
            }
        }
        // The application is the last part, and the version is its version.
        let main = parts.last.flatMap { $0.kind == .softdevice ? nil : $0.packet.version }
        return ImageContent(
            protocol: .secureDFU,
            title: "a Secure DFU package",
            uses: uses,
            version: main,
            chip: parts.lazy.compactMap(\.packet.hardwareVersion).first.map(String.init),
            parts: parts.map {
                FirmwarePart(initPacket: $0.initPacket, firmware: $0.firmware)
            }
        )
    }

    private static func content(_ package: LegacyPackage) -> ImageContent {
        let uses = package.parts.map { part -> ImageContent.Use in
            if part.type.contains(.application) { return .application }
            return part.type.contains(.bootloader) ? .bootloader : .radio
        }
        let main = package.parts.last
        let type = main.map { String($0.packet.deviceType, radix: 16) }
        return ImageContent(
            protocol: .legacyDFU,
            title: "a legacy DFU package",
            uses: uses,
            version: main?.packet.version.map { FirmwareVersion(packed: $0) },
            chip: type.map { String(repeating: "0", count: 4 - $0.count) + $0 },
            parts: package.parts.map { part in
                FirmwarePart(
                    initPacket: part.initPacket,
                    firmware: part.firmware,
                    image: Int(part.type.rawValue),
                    split: part.split
                )
            }
        )
    }

    /// The main image is last.
    private static func content(
        _ parts: [NCSPackage.Part],
        _ title: String
    ) throws(InspectionError) -> ImageContent {
        var numbers: [Int: [NCSPackage.Part]] = [:]
        for part in parts { numbers[part.image, default: []].append(part) }
        var sent: [FirmwarePart] = []
        for (number, variants) in numbers.sorted(by: { $0.key > $1.key }) {
            guard variants.count == 1 || variants.allSatisfy({ $0.slot != nil }) else {
                throw InspectionError(
                    place: nil,
                    description: "it holds several files for image \(number) of the module, and "
                        + "does not say of each for which slot it is"
                )
            }
            guard Set(variants.map(\.file.image.version)).count == 1 else {
                throw InspectionError(
                    place: nil,
                    description: "its files for the slots of image \(number) are of different "
                        + "versions"
                )
            }
            let part = FirmwarePart(
                image: number,
                variants: variants.map {
                    FirmwarePart.Variant(slot: $0.slot, firmware: $0.file.bytes)
                }
            )
            sent += part.map { [$0] } ?? []
        }
        let main = numbers.min { $0.key < $1.key }?.value.first
        var content = ImageContent(
            protocol: .smp,
            title: title,
            uses: parts.contains { $0.type != "mcuboot" } ? [.application] : [.bootloader],
            version: main?.file.image.version,
            chip: main?.soc,
            isConfirmed: parts.contains { $0.file.image.trailer?.isConfirmed == true },
            parts: sent
        )
        content.securityCounters = numbers.compactMapValues { variants in
            variants.compactMap(\.file.image.securityCounter).min()
        }
        return content
    }
}

extension NCSPackage.Part {
    /// An image without a package.
    fileprivate init(_ file: MCUbootFile) {
        self.init(
            name: "",
            image: 0,
            slot: nil,
            type: nil,
            board: nil,
            soc: nil,
            file: file
        )
    }
}
