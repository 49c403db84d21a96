import Base

/// The `manifest.json` of a DFU package: its parts and their files.
struct DFUManifest {
    static let name = "manifest.json"
    private static let sizeLimit = 64 << 10

    /// One part as the manifest lists it.
    struct Entry {
        let kind: DFUPackage.Kind
        let initPacket: String
        let firmware: String
        /// Present only for a combined part: the offset at which a module splits it follows from
        /// it.
        let sizes: (softdevice: Int, bootloader: Int)?
    }

    /// The system part is first.
    let entries: [Entry]

    init(_ archive: ZipArchive) throws(DFUPackageError) {
        guard archive.names.contains(Self.name) else { throw .noManifest }
        let text = try DFUPackage.unzip { () throws(ZipError) in
            try archive.contents(of: Self.name)
        }
        guard text.count <= Self.sizeLimit else { throw .manifest("is too long") }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(json: text) } catch {
            throw .manifest("is no JSON: \(error)")
        }
        guard let root = json["manifest"]?.members else {
            throw .manifest("has no object 'manifest'")
        }
        var entries: [Entry] = []
        for member in root {
            guard member.name != "dfu_version" else { throw .legacy }
            guard let kind = DFUPackage.Kind(rawValue: member.name) else {
                throw .unknownPart(member.name)
            }
            entries.append(try Self.entry(kind, member.value))
        }
        let system = entries.filter { $0.kind != .application }
        guard !entries.isEmpty else { throw .noParts }
        guard system.count <= 1 else {
            throw .conflictingParts(system.map(\.kind.rawValue).sorted())
        }
        self.entries = system + entries.filter { $0.kind == .application }
    }

    private static func entry(
        _ kind: DFUPackage.Kind,
        _ json: JSONValue
    ) throws(DFUPackageError) -> Entry {
        guard json["init_packet_data"] == nil else { throw .legacy }
        func file(_ member: String) throws(DFUPackageError) -> String {
            guard let name = json[member]?.string else {
                throw .manifest("names no '\(member)' for \(kind.rawValue)")
            }
            return name
        }
        func size(_ member: String) throws(DFUPackageError) -> Int {
            guard let size = json["info_read_only_metadata"]?[member]?.integer,
                let size = Int(exactly: size), (1...ZipArchive.sizeLimit).contains(size)
            else { throw .manifest("gives no '\(member)' for \(kind.rawValue)") }
            return size
        }
        return Entry(
            kind: kind,
            initPacket: try file("dat_file"),
            firmware: try file("bin_file"),
            sizes: kind == .softdeviceAndBootloader
                ? (softdevice: try size("sd_size"), bootloader: try size("bl_size")) : nil
        )
    }
}
