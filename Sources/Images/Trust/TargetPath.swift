import Base

/// The name of a target, checked so that it can be searched for and used in an address.
package struct TargetPath: Sendable, Hashable, CustomStringConvertible {
    let name: ExactText
    let digest: SHA256Digest

    /// Nil for names that could lead out of a folder: with empty parts, `.`, `..` or control
    /// characters, or longer than 1,024 bytes.
    package init?(_ text: String) {
        name = ExactText(text)
        guard (1...1_024).contains(name.bytes.count),
            name.bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        for part in name.bytes.split(separator: 0x2F, omittingEmptySubsequences: false) {
            guard !part.isEmpty, !part.elementsEqual(".".utf8), !part.elementsEqual("..".utf8)
            else { return nil }
        }
        digest = SHA256.digest(of: name.bytes)
    }

    var digestText: [UInt8] { Array(digest.description.utf8) }

    /// The address, relative to the repository's; with a hash when file names begin with their
    /// digests.
    package func address(hash: String?) -> String {
        var parts = name.bytes.split(separator: 0x2F).map { PercentEncoding.encoded($0) }
        if let hash, let last = parts.popLast() { parts.append("\(hash).\(last)") }
        return parts.joined(separator: "/")
    }

    /// A file name that no other target has.
    package var fileName: String { FileName.safe(name.bytes) }

    package var description: String { name.description }
}

/// Makes names from outside into names of files in one of our folders.
enum FileName {
    /// Encodes the name, so that no character has a special meaning; a digest replaces names that
    /// are too long for a disk.
    static func safe(_ bytes: [UInt8]) -> String {
        let encoded = PercentEncoding.encoded(bytes)
        guard encoded.utf8.count > 200 || encoded.hasPrefix(".") else { return encoded }
        // No encoded name begins like this: `s` is not a hex digit.
        return "%sha256-\(SHA256.digest(of: bytes))"
    }
}
