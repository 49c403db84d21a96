import Base
package import Families

/// Why a file is not an image that can be sent, and the place of the fault.
package struct InspectionError: Error, Equatable, CustomStringConvertible {
    /// A byte of the file, or a file in the package; nil for the whole file.
    package let place: String?
    package let description: String
}

/// An image file of any kind, parsed and checked as far as that is possible without a module.
package enum InspectedImage: Sendable, Equatable {
    case secureDFU([SecureDFUPart])
    case mcuboot(MCUbootFile)
    case ncs(NCSPackage)
    case legacyDFU(LegacyPackage)
    /// An image of a protocol with a format of its own, by the format's name.
    case raw(String, RawImage)

    /// A part of a Secure DFU package, with the description of its image.
    package struct SecureDFUPart: Sendable, Equatable {
        package let kind: DFUPackage.Kind
        package let packet: InitPacket
        let initPacket: [UInt8]
        let firmware: [UInt8]

        package var size: Int { firmware.count }
    }

    package init(_ bytes: [UInt8]) throws(InspectionError) {
        if bytes.starts(with: MCUbootHeader.magic.littleBytes) {
            do throws(MCUbootFileError) {
                self = .mcuboot(try MCUbootFile(bytes))
            } catch {
                throw InspectionError(
                    place: error.offset.map { "byte \($0)" },
                    description: error.description
                )
            }
        } else if bytes.starts(with: Array("PK".utf8)) {
            self = try Self.isNCS(bytes) ? .ncs(Self.package(bytes)) : Self.secureDFU(bytes)
        } else if let format = RawImageFormat.all.first(where: { $0.isOne(bytes) }) {
            do throws(RawImageError) {
                self = .raw(format.name, try format.read(bytes))
            } catch { throw InspectionError(place: nil, description: error.sentence) }
        } else {
            throw InspectionError(
                place: "byte 0",
                description: "this is neither an MCUboot image nor a zip package of firmware"
            )
        }
    }

    /// Decides by the manifest: a package of the nRF Connect SDK lists files, the other kind lists
    /// parts.
    private static func isNCS(_ bytes: [UInt8]) -> Bool {
        guard let archive = try? ZipArchive(bytes),
            let text = try? archive.contents(of: NCSManifest.name),
            let json = try? NCSManifest.json(text)
        else { return false }
        return NCSManifest.isOne(json)
    }

    private static func package(_ bytes: [UInt8]) throws(InspectionError) -> NCSPackage {
        do throws(NCSPackageError) {
            return try NCSPackage(zip: bytes)
        } catch {
            throw InspectionError(place: error.place, description: error.description)
        }
    }

    private static func secureDFU(_ bytes: [UInt8]) throws(InspectionError) -> InspectedImage {
        let package: DFUPackage
        do throws(DFUPackageError) {
            package = try DFUPackage(zip: bytes)
        } catch .legacy {
            return .legacyDFU(try LegacyPackage(zip: bytes))
        } catch {
            throw InspectionError(place: error.place, description: error.description)
        }
        var parts: [SecureDFUPart] = []
        for part in package.parts {
            let place = "part \(part.kind.rawValue)"
            let packet: InitPacket
            do throws(InitPacketError) {
                packet = try InitPacket(part.initPacket)
            } catch {
                throw InspectionError(place: place, description: error.description)
            }
            guard part.kind.fits(packet.type) else {
                throw InspectionError(
                    place: place,
                    description:
                        "its init packet is for an image of another kind: \(packet.type.words)"
                )
            }
            guard packet.firmwareSize == part.firmware.count else {
                throw InspectionError(
                    place: place,
                    description: "its init packet is for \(packet.firmwareSize) bytes of "
                        + "firmware, but there are \(part.firmware.count)"
                )
            }
            guard SHA256.digest(of: part.firmware) == packet.digest else {
                throw InspectionError(
                    place: place,
                    description: "its firmware is not the one its init packet describes"
                )
            }
            parts.append(
                SecureDFUPart(
                    kind: part.kind,
                    packet: packet,
                    initPacket: part.initPacket,
                    firmware: part.firmware
                )
            )
        }
        return .secureDFU(parts)
    }

    /// Reads an image file that the caller names.
    package static func read(_ path: String) throws(ImageError) -> [UInt8] {
        let limit = ByteCount(count: UInt(MCUbootFile.sizeLimit))
        let file = try ImageFile(reading: path)
        var bytes: [UInt8] = []
        try file.read { (piece) throws(ImageError) in
            guard bytes.count + piece.count <= limit.bytes else {
                throw .tooLarge(limit: limit)
            }
            piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

extension NCSPackageError {
    /// The file in the package that is at fault.
    var place: String? {
        switch self {
        case .archive(let error): error.entry.map { "entry \(ZipError.shown($0))" }
        case .manifest: "entry \(NCSManifest.name)"
        case .image(let name, let error):
            "entry \(ZipError.shown(name))" + (error.offset.map { ", byte \($0)" } ?? "")
        case .missingFile(let name), .sharedFile(let name), .wrongSize(let name, _, _),
            .wrongVersion(let name, _, _), .samePlace(_, let name):
            "entry \(ZipError.shown(name))"
        case .noManifest, .noFiles: nil
        }
    }
}

extension DFUPackageError {
    /// The file in the package that is at fault.
    var place: String? {
        switch self {
        case .archive(let error): error.entry.map { "entry \(ZipError.shown($0))" }
        case .manifest, .unknownPart, .conflictingParts, .legacy, .noParts: "entry manifest.json"
        case .missingFile(let name), .emptyFile(let name), .sharedFile(let name),
            .unlistedFile(let name), .wrongSizes(let name):
            "entry \(ZipError.shown(name))"
        case .noManifest: nil
        }
    }
}
