/// Why a zip archive is refused; no part of it is used then.
package struct ZipError: Error, Equatable {
    /// The entry at fault; nil when it is the whole archive.
    package let entry: String?
    package let reason: Reason

    init(_ reason: Reason, entry: String? = nil) {
        self.reason = reason
        self.entry = entry
    }

    package enum Reason: Equatable, Sendable {
        case notAnArchive
        case endsEarly
        case tooLarge(limit: Int)
        case tooManyEntries(limit: Int)
        case spansDisks
        case zip64
        case encrypted
        /// A general purpose flag that we do not know.
        case unknownFlags(UInt16)
        case unknownMethod(UInt16)
        case badName
        case duplicateName
        /// A link, a device, or a directory with content.
        case notAFile
        case badExtraField
        case overlaps
        /// The central directory and the entry's own header disagree.
        case headersDiffer
        case wrongSize
        case wrongChecksum
        /// The compressed data is not a deflate stream.
        case badData
        case noSuchEntry
    }
}

extension ZipError: CustomStringConvertible {
    package var description: String {
        let what =
            switch reason {
            case .notAnArchive: "not a zip archive"
            case .endsEarly: "cut off, or an offset points outside"
            case .tooLarge(let limit): "larger than \(limit) bytes when unpacked"
            case .tooManyEntries(let limit): "more than \(limit) entries"
            case .spansDisks: "part of an archive over several disks"
            case .zip64: "in zip64 format, which nothing this small needs"
            case .encrypted: "encrypted"
            case .unknownFlags(let flags): "with unknown flags 0x\(String(flags, radix: 16))"
            case .unknownMethod(let method): "compressed by unknown method \(method)"
            case .badName: "a name that is absolute, leaves its folder, or is no plain text"
            case .duplicateName: "a name that appears twice (upper and lower case ignored)"
            case .notAFile: "neither a file nor an empty directory"
            case .badExtraField: "a malformed extra field"
            case .overlaps: "sharing bytes with another entry"
            case .headersDiffer: "described differently in its two headers"
            case .wrongSize: "not of the size it declares"
            case .wrongChecksum: "damaged: its checksum is wrong"
            case .badData: "damaged: its compressed data make no sense"
            case .noSuchEntry: "missing"
            }
        return entry.map { "zip entry '\(Self.shown($0))': \(what)" } ?? "zip archive: \(what)"
    }

    /// A hostile name must neither control the terminal nor fill it.
    static func shown(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(80) {
            text +=
                scalar.properties.generalCategory == .control || scalar.value == 0xFFFD
                ? "?" : String(scalar)
        }
        return text
    }
}
