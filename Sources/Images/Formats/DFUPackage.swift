import Families

/// A Nordic Secure DFU package: firmware in parts, each with its init packet.
///
/// Whether an init packet fits its firmware is not checked here, but by the caller.
package struct DFUPackage: Sendable, Equatable {
    /// The firmware that a part replaces; the names are those of the manifest.
    package enum Kind: String, CaseIterable, Sendable {
        case softdevice
        case bootloader
        case softdeviceAndBootloader = "softdevice_bootloader"
        case application

        /// Whether an init packet for this type of image can belong to such a part.
        func fits(_ type: InitPacket.ImageType) -> Bool {
            switch self {
            case .softdevice: type == .softDevice
            case .bootloader: type == .bootloader
            case .softdeviceAndBootloader: type == .softDeviceAndBootloader
            case .application: type == .application || type == .external
            }
        }
    }

    /// One part to send: the init packet first, then the firmware.
    package struct Part: Sendable, Equatable {
        package let kind: Kind
        package let initPacket: [UInt8]
        package let firmware: [UInt8]
    }

    /// In the order in which a module takes them: the system part, then the application.
    package let parts: [Part]

    package init(zip bytes: [UInt8]) throws(DFUPackageError) {
        let archive = try Self.unzip { () throws(ZipError) in try ZipArchive(bytes) }
        let entries = try DFUManifest(archive).entries
        let listed = entries.flatMap { [$0.initPacket, $0.firmware] } + [DFUManifest.name]
        for name in listed {
            guard listed.count(where: { $0 == name }) == 1 else { throw .sharedFile(name) }
        }
        for name in archive.names where !listed.contains(name) { throw .unlistedFile(name) }
        var parts: [Part] = []
        for entry in entries {
            let part = Part(
                kind: entry.kind,
                initPacket: try Self.file(entry.initPacket, in: archive),
                firmware: try Self.file(entry.firmware, in: archive)
            )
            if let sizes = entry.sizes {
                guard sizes.softdevice + sizes.bootloader == part.firmware.count else {
                    throw .wrongSizes(entry.firmware)
                }
            }
            parts.append(part)
        }
        self.parts = parts
    }

    private static func file(
        _ name: String,
        in archive: ZipArchive
    ) throws(DFUPackageError) -> [UInt8] {
        guard archive.names.contains(name) else { throw .missingFile(name) }
        let bytes = try unzip { () throws(ZipError) in try archive.contents(of: name) }
        guard !bytes.isEmpty else { throw .emptyFile(name) }
        return bytes
    }

    static func unzip<R>(_ body: () throws(ZipError) -> R) throws(DFUPackageError) -> R {
        do throws(ZipError) { return try body() } catch { throw .archive(error) }
    }
}
