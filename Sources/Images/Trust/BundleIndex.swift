package import Base

/// Why a file is not a usable bundle.
package enum BundleFault: Error, Equatable, Sendable, CustomStringConvertible {
    case noBundle
    case badIndex(String)
    case badName(String)
    case wrongLength(expected: Int64, found: Int64)
    case wrongMember(String)
    case noMember(String)
    case tooLarge(String)
    /// The bundle's manifest does not name this part.
    case unknownPart(String)
    /// Two parts would be the same file, or one would be a folder of the other.
    case clash(String)
    /// The part would be at a place where programs look for their settings, and the bundle is not
    /// signed.
    case hidden(String)
    case badProfile(String)
    /// The manifest states another size for the image.
    case wrongSize(String, expected: Int64, found: Int64)

    /// Whether another copy of the same bundle may be right.
    package var isDamage: Bool {
        switch self {
        case .noBundle, .badIndex, .wrongLength, .wrongMember: true
        case .badName, .noMember, .tooLarge, .unknownPart, .clash, .hidden, .badProfile, .wrongSize:
            false
        }
    }

    package var description: String {
        switch self {
        case .noBundle: "it does not begin like a bundle"
        case .badIndex(let what): "its list of contents is damaged: \(what.visible)"
        case .badName(let name): "'\(name.visible)' is no name for a part of a bundle"
        case .wrongLength(let expected, let found):
            "it has \(found) bytes, its list of contents says \(expected)"
        case .wrongMember(let name): "its part '\(name.visible)' has changed"
        case .noMember(let name): "its part '\(name.visible)' is missing"
        case .tooLarge(let name): "its part '\(name.visible)' is larger than any"
        case .unknownPart(let name): "its manifest does not name its part '\(name.visible)'"
        case .clash(let name): "its part '\(name.visible)' conflicts with another part"
        case .wrongSize(let name, let expected, let found):
            "its part '\(name.visible)' has \(found) bytes instead of \(expected)"
        case .badProfile(let name): "its part '\(name.visible)' is no profile"
        case .hidden(let name):
            "'\(name.visible)' would be a hidden file, which only a signed bundle may contain"
        }
    }
}

/// The index of a bundle: the beginning of its file.
///
/// The file has a line that identifies it, the length of the index in eight bytes, the index as
/// JSON, and then only the parts, one after the other.
package struct BundleIndex: Sendable, Equatable {
    /// One file in the bundle.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let size: Int64
        package let digest: SHA256Digest
        /// Whether the bundle only names the part: the depot has it from the base bundle.
        package let isHeld: Bool

        package init(name: String, size: Int64, digest: SHA256Digest, isHeld: Bool = false) {
            self.name = name
            self.size = size
            self.digest = digest
            self.isHeld = isHeld
        }
    }

    package static let mark = Array("yardmaster-bundle-1\n".utf8)
    /// The length of the identifying line and of the length of the index.
    package static let headLength = 28
    static let longestIndex = 4 << 20
    static let mostMembers = 4_096
    /// The limit is the size of the largest image.
    package static let largestMember: Int64 = 64 << 20

    /// The time of creation, according to the clock of the machine that made it.
    package let created: WallTime
    /// In ascending order of their names.
    package let members: [Member]
    /// The digest of the bundle that this one adds to; nil for a complete one.
    package let base: SHA256Digest?

    /// The total length of the parts that are in the file.
    package var length: Int64 { members.reduce(0) { $0 + ($1.isHeld ? 0 : $1.size) } }

    /// Identifies the whole content of the bundle.
    package let digest: SHA256Digest
    private let start: Int64

    /// The length of the index, from the first `headLength` bytes.
    package static func indexLength(_ head: [UInt8]) throws(BundleFault) -> Int {
        guard head.count >= headLength, head.starts(with: mark) else { throw .noBundle }
        let length = head[mark.count..<headLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let count = Int(exactly: length), count <= longestIndex else {
            throw .badIndex("it is too long")
        }
        return count
    }

    /// Reads the index; `total` is the length of the whole file.
    package init(_ index: [UInt8], total: Int64) throws(BundleFault) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(json: index)
        } catch { throw .badIndex(error.description) }
        switch document["form"]?.integer {
        case 1: base = nil
        case 2:
            guard let text = document["base"]?.string, let digest = SHA256Digest(text) else {
                throw .badIndex("base")
            }
            base = digest
        default: throw .badIndex("another form")
        }
        guard let created = document["created"]?.integer,
            (0...253_402_300_799_999).contains(created)
        else { throw .badIndex("created") }
        guard let list = document["members"]?.array, list.count <= Self.mostMembers else {
            throw .badIndex("members")
        }
        var members: [Member] = []
        // In the order of the names, a folder is before its content.
        var names: Set<ExactText> = []
        var end = Int64(Self.headLength) + Int64(index.count)
        start = end
        for element in list {
            guard let name = element["name"]?.string, let size = element["size"]?.integer,
                let digest = element["sha256"]?.string.flatMap({ SHA256Digest($0) })
            else { throw .badIndex("members") }
            guard Self.isName(name) else { throw .badName(name) }
            if let last = members.last, ExactText(last.name) >= ExactText(name) {
                throw .badIndex("the parts are not in order")
            }
            for folder in Self.folders(of: name) {
                guard !names.contains(folder) else { throw .clash(name) }
            }
            names.insert(ExactText(name))
            guard (0...Self.largestMember).contains(size) else { throw .tooLarge(name) }
            let isHeld = element["held"]?.bool ?? false
            guard !isHeld || base != nil else { throw .badIndex("members") }
            if !isHeld { end += size }
            members.append(Member(name: name, size: size, digest: digest, isHeld: isHeld))
        }
        guard end == total else { throw .wrongLength(expected: end, found: total) }
        self.created = WallTime(milliseconds: created)
        self.members = members
        digest = SHA256.digest(of: index)
    }

    /// The beginning of a bundle with these parts, and the order of the parts after it.
    package static func head(
        of members: [Member],
        created: WallTime,
        base: SHA256Digest? = nil
    ) throws(BundleFault) -> (bytes: [UInt8], members: [Member]) {
        let sorted = members.sorted { ExactText($0.name) < ExactText($1.name) }
        let index = JSONValue.object([
            "form": base == nil ? 1 : 2,
            "base": base.map { .string($0.description) },
            "created": .integer(created.milliseconds),
            "members": .array(
                sorted.map { member in
                    .object([
                        "name": .string(member.name),
                        "size": .integer(member.size),
                        "sha256": .string(member.digest.description),
                        "held": member.isHeld ? true : nil,
                    ])
                }
            ),
        ]).bytes
        var bytes = mark
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: index.count >> shift))
        }
        bytes += index
        // The result must be readable: only the reader's own rules are applied.
        let sizes = sorted.reduce(Int64(bytes.count)) { $0 + ($1.isHeld ? 0 : $1.size) }
        _ = try BundleIndex(index, total: sizes)
        return (bytes, sorted)
    }

    /// Whether this is a name in folders, with any characters, that cannot lead out of its folder.
    private static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard (1...1_024).contains(bytes.count), !bytes.contains(0) else { return false }
        return bytes.split(separator: 0x2F, omittingEmptySubsequences: false).allSatisfy {
            (1...255).contains($0.count) && !$0.elementsEqual(".".utf8)
                && !$0.elementsEqual("..".utf8)
        }
    }

    private static func folders(of name: String) -> [ExactText] {
        let bytes = Array(name.utf8)
        return bytes.indices.filter { bytes[$0] == 0x2F }.map {
            ExactText(String(decoding: bytes[..<$0], as: UTF8.self))
        }
    }

    /// The offset of a part in the file, and its expected size and digest.
    package func place(of name: String) throws(BundleFault) -> (offset: Int64, member: Member) {
        var offset = start
        for member in members {
            if member.name.utf8.elementsEqual(name.utf8) { return (offset, member) }
            if !member.isHeld { offset += member.size }
        }
        throw .noMember(name)
    }
}

extension BundleIndex.Member {
    /// Throws unless these are the part's bytes.
    package func check(_ bytes: [UInt8]) throws(BundleFault) {
        guard Int64(bytes.count) == size, SHA256.digest(of: bytes) == digest else {
            throw .wrongMember(name)
        }
    }
}
