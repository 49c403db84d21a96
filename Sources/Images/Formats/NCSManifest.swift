import Base

/// The `manifest.json` of a package that the nRF Connect SDK makes.
struct NCSManifest {
    static let name = "manifest.json"
    private static let sizeLimit = 64 << 10
    private static let fileLimit = 16

    /// One image, as the manifest lists it.
    struct Entry {
        let file: String
        let size: Int?
        /// `application`, `net-core`, `mcuboot` and so on.
        let type: String?
        let board: String?
        let soc: String?
        let version: String?
        let image: Int
        /// The slot that the image is linked for, when that matters; nil when the manifest does not
        /// contain it.
        let slot: Int?
    }

    let name: String?
    let entries: [Entry]

    /// Whether a zip archive's manifest is of this kind, and not one of a Secure DFU package.
    static func isOne(_ json: JSONValue) -> Bool { json["files"] != nil }

    init(_ text: [UInt8]) throws(NCSPackageError) {
        guard text.count <= Self.sizeLimit else { throw .manifest("is too long") }
        let json: JSONValue
        do throws(JSONError) { json = try Self.json(text) } catch {
            throw .manifest("is no JSON: \(error)")
        }
        guard let files = json["files"]?.array else { throw .manifest("has no list 'files'") }
        guard files.count <= Self.fileLimit else {
            throw .manifest("lists more than \(Self.fileLimit) files")
        }
        name = json["name"]?.string
        var entries: [Entry] = []
        for file in files { entries.append(try Self.entry(file)) }
        self.entries = entries
    }

    /// Reads JSON that may contain plain hexadecimal numbers, as older tools wrote them.
    static func json(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        try JSONValue(json: withoutHexadecimal(text))
    }

    /// The text with each `0x…` outside of strings in decimal, padded so that all offsets stay the
    /// same.
    private static func withoutHexadecimal(_ text: [UInt8]) -> [UInt8] {
        var text = text
        var index = 0
        var isString = false
        while index < text.count {
            let byte = text[index]
            if isString, byte == UInt8(ascii: "\\") {
                index += 2
                continue
            }
            if byte == UInt8(ascii: "\"") { isString.toggle() }
            if !isString, byte == UInt8(ascii: "0"), index + 1 < text.count,
                text[index + 1] | 0x20 == UInt8(ascii: "x")
            {
                let digits = text[(index + 2)...].prefix { isDigit($0) }
                let number = Int(String(decoding: digits, as: UTF8.self), radix: 16)
                // Nine digits of base 16 need at most eleven bytes in base 10; no address has more.
                if digits.count <= 9, let number {
                    let decimal = Array(String(number).utf8)
                    let spaces = digits.count + 2 - decimal.count
                    text.replaceSubrange(
                        index..<digits.endIndex,
                        with: decimal + [UInt8](repeating: 0x20, count: max(0, spaces))
                    )
                }
                index = digits.endIndex
                continue
            }
            index += 1
        }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    private static func entry(_ json: JSONValue) throws(NCSPackageError) -> Entry {
        guard let file = json["file"]?.string else { throw .manifest("lists a file without name") }
        let version = json.members?.first { $0.name.hasPrefix("version_MCUBOOT") }
        return Entry(
            file: file,
            size: try number(json["size"], "size", file),
            type: json["type"]?.string,
            board: json["board"]?.string,
            soc: json["soc"]?.string,
            version: version?.value.string,
            image: try number(
                json["image_index"] ?? json["image"] ?? json["partition"],
                "image_index",
                file
            ) ?? 0,
            slot: try number(json["slot"], "slot", file)
        )
    }

    /// A number, possibly in quotes; nil when there is none.
    private static func number(
        _ value: JSONValue?,
        _ name: String,
        _ file: String
    ) throws(NCSPackageError) -> Int? {
        guard let value else { return nil }
        guard let number = value.integer ?? value.string.flatMap({ Int64($0) }),
            let number = Int(exactly: number), number >= 0
        else { throw .manifest("gives no number as '\(name)' of \(ZipError.shown(file))") }
        guard name == "size" || number <= 255 else {
            throw .manifest("gives '\(name)' \(number) to \(ZipError.shown(file))")
        }
        return number
    }
}
