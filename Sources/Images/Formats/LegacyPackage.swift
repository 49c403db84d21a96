import Base
package import Families

/// A package for Nordic's legacy DFU, in the form that `adafruit-nrfutil` makes.
package struct LegacyPackage: Sendable, Equatable {
    /// One part to send: the init packet first, then the firmware.
    package struct Part: Sendable, Equatable {
        package let type: LegacyImageType
        package let packet: LegacyInitPacket
        let initPacket: [UInt8]
        package let firmware: [UInt8]
        /// The end of the SoftDevice in a part with a SoftDevice and a bootloader after it.
        let split: Int?
    }

    /// In the order in which a module takes them: the system part, then the application.
    package let parts: [Part]

    private static let types: [(name: String, type: LegacyImageType)] = [
        ("softdevice", .softDevice), ("bootloader", .bootloader),
        ("softdevice_bootloader", [.softDevice, .bootloader]), ("application", .application),
    ]

    package init(zip bytes: [UInt8]) throws(InspectionError) {
        let archive: ZipArchive
        let text: [UInt8]
        do throws(ZipError) {
            archive = try ZipArchive(bytes)
            text = try archive.contents(of: DFUManifest.name)
        } catch { throw InspectionError(place: nil, description: "\(error)") }
        guard let json = try? JSONValue(json: text), let root = json["manifest"] else {
            throw Self.fault("has no object 'manifest'")
        }
        var parts: [Part] = []
        for (name, type) in Self.types {
            guard let entry = root[name] else { continue }
            parts.append(try Self.part(name, type, entry, in: archive))
        }
        guard !parts.isEmpty else { throw Self.fault("lists nothing that can be sent") }
        guard parts.count(where: { $0.type != .application }) <= 1 else {
            throw Self.fault("lists several system parts, and a module takes one at a time")
        }
        self.parts = parts
    }

    private static func fault(_ sentence: String) -> InspectionError {
        InspectionError(
            place: "entry \(DFUManifest.name)",
            description: "the legacy DFU package's manifest.json \(sentence)"
        )
    }

    private static func part(
        _ name: String,
        _ type: LegacyImageType,
        _ entry: JSONValue,
        in archive: ZipArchive
    ) throws(InspectionError) -> Part {
        func file(_ member: String) throws(InspectionError) -> [UInt8] {
            guard let file = entry[member]?.string else {
                throw fault("names no '\(member)' for \(name)")
            }
            do throws(ZipError) {
                return try archive.contents(of: file)
            } catch {
                throw InspectionError(
                    place: "entry \(ZipError.shown(file))",
                    description: "the legacy DFU package cannot be read: \(error)"
                )
            }
        }
        let initPacket = try file("dat_file")
        let firmware = try file("bin_file")
        func wrong(_ sentence: String) -> InspectionError {
            InspectionError(place: "part \(name)", description: sentence)
        }
        let packet: LegacyInitPacket
        do throws(LegacyInitPacketError) {
            packet = try LegacyInitPacket(initPacket)
        } catch { throw wrong(error.description) }
        guard !firmware.isEmpty, firmware.count % 4 == 0 else {
            throw wrong("its firmware has \(firmware.count) bytes, which is no multiple of four")
        }
        switch packet.proof {
        case .crc(let crc):
            guard crc == LegacyInitPacket.checksum(of: firmware) else {
                throw wrong("its firmware is not the one its init packet describes")
            }
        case .sha256(let digest, let length), .signed(let digest, let length, _):
            guard Int(length) == firmware.count, digest == SHA256.digest(of: firmware) else {
                throw wrong("its firmware is not the one its init packet describes")
            }
        }
        var split: Int?
        if type == [.softDevice, .bootloader] {
            let sizes = ["sd_size", "bl_size"].map {
                entry[$0]?.integer.flatMap { Int(exactly: $0) }
            }
            guard let first = sizes[0], let second = sizes[1], first > 0, second > 0,
                first <= firmware.count, second == firmware.count - first
            else { throw wrong("its sizes are not those of its firmware") }
            split = first
        }
        return Part(
            type: type,
            packet: packet,
            initPacket: initPacket,
            firmware: firmware,
            split: split
        )
    }
}
