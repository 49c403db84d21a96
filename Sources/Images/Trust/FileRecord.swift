import Base

/// A kind of digest that a signed document lists for another file.
package enum FileHash: String, CaseIterable, Sendable, Hashable {
    case sha256, sha512

    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: SHA256.digest(of: bytes).bytes
        case .sha512: LongDigest.sha512.digest(of: bytes)
        }
    }

    var count: Int { self == .sha256 ? 32 : 64 }
}

/// The digests of a file that we can check; those of other algorithms are ignored.
package struct FileHashes: Sendable, Equatable {
    package let known: [FileHash: [UInt8]]

    /// Requires at least one known algorithm: otherwise any file would match.
    init(_ value: JSONValue) throws(MetadataFault) {
        guard let members = value.members else { throw .badMember("hashes") }
        var known: [FileHash: [UInt8]] = [:]
        for member in members {
            guard let text = member.value.string else { throw .badMember("hashes") }
            guard
                let hash = FileHash.allCases.first(where: {
                    $0.rawValue.utf8.elementsEqual(member.name.utf8)
                })
            else { continue }
            guard let bytes = Hex.bytes(text), bytes.count == hash.count else {
                throw .badMember("hashes")
            }
            known[hash] = bytes
        }
        self.known = known
    }

    /// The first algorithm whose digest of the bytes differs from the listed one; nil when all
    /// match.
    func mismatch(of bytes: [UInt8]) -> FileHash? {
        FileHash.allCases.first { hash in
            known[hash].map { $0 != hash.digest(of: bytes) } ?? false
        }
    }

    /// The digest that is part of the file's address, as hex digits.
    package var preferred: String? {
        FileHash.allCases.lazy.compactMap { known[$0] }.first.map { Hex.text($0) }
    }
}

/// The entry of a timestamp or snapshot for another document.
package struct ListedDocument: Sendable, Equatable {
    let version: Int64
    let length: Int64?
    let hashes: FileHashes?

    init(_ value: JSONValue?) throws(MetadataFault) {
        guard let value, let version = value["version"]?.integer, version > 0 else {
            throw .badMember("meta")
        }
        self.version = version
        if let given = value["length"] {
            guard let length = given.integer, length >= 0 else { throw .badMember("length") }
            self.length = length
        } else {
            length = nil
        }
        if let given = value["hashes"] {
            let hashes = try FileHashes(given)
            guard !hashes.known.isEmpty else { throw .badMember("hashes") }
            self.hashes = hashes
        } else {
            hashes = nil
        }
    }
}
