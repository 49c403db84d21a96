import Base
import Families

/// A package of MCUboot images for one module (`dfu_application.zip` of the nRF Connect SDK).
package struct NCSPackage: Sendable, Equatable {
    /// One image to send.
    package struct Part: Sendable, Equatable {
        package let name: String
        /// The number of the image in the module.
        package let image: Int
        /// The slot that it is linked for; nil when it runs from any slot.
        package let slot: Int?
        /// `application`, `net-core` and so on, when the manifest contains it.
        package let type: String?
        package let board: String?
        package let soc: String?
        package let file: MCUbootFile
    }

    let name: String?
    /// In the order of the manifest.
    package let parts: [Part]
    /// Files that the manifest does not list.
    package let unlisted: [String]

    package init(zip bytes: [UInt8]) throws(NCSPackageError) {
        let archive: ZipArchive
        let text: [UInt8]
        do throws(ZipError) {
            archive = try ZipArchive(bytes)
            guard archive.names.contains(NCSManifest.name) else {
                throw ZipError(.noSuchEntry, entry: nil)
            }
            text = try archive.contents(of: NCSManifest.name)
        } catch {
            guard error.entry != nil || error.reason != .noSuchEntry else { throw .noManifest }
            throw .archive(error)
        }
        let manifest = try NCSManifest(text)
        guard !manifest.entries.isEmpty else { throw .noFiles }
        var parts: [Part] = []
        for entry in manifest.entries {
            let part = try Self.part(entry, in: archive)
            if parts.contains(where: { $0.name == part.name }) { throw .sharedFile(part.name) }
            // One file for each slot when images run in place, else one for each image.
            if let same = parts.first(where: { $0.image == part.image && $0.slot == part.slot }) {
                throw .samePlace(same.name, part.name)
            }
            parts.append(part)
        }
        let listed = parts.map(\.name) + [NCSManifest.name]
        name = manifest.name
        self.parts = parts
        unlisted = archive.names.filter { !listed.contains($0) }.sorted()
    }

    private static func part(
        _ entry: NCSManifest.Entry,
        in archive: ZipArchive
    ) throws(NCSPackageError) -> Part {
        guard archive.names.contains(entry.file) else { throw .missingFile(entry.file) }
        let bytes: [UInt8]
        do throws(ZipError) {
            bytes = try archive.contents(of: entry.file)
        } catch { throw .archive(error) }
        if let size = entry.size, size != bytes.count {
            throw .wrongSize(entry.file, listed: size, actual: bytes.count)
        }
        let file: MCUbootFile
        do throws(MCUbootFileError) {
            file = try MCUbootFile(bytes)
        } catch { throw .image(entry.file, error) }
        if let text = entry.version, FirmwareVersion(text) != file.image.version {
            throw .wrongVersion(
                entry.file,
                listed: text,
                actual: file.image.version.description
            )
        }
        return Part(
            name: entry.file,
            image: entry.image,
            slot: entry.slot,
            type: entry.type,
            board: entry.board,
            soc: entry.soc,
            file: file
        )
    }
}
