import Digests
package import Domain

/// The name of a target, fit to be looked for and to be part of an address.
package struct TargetPath: Sendable, Hashable, CustomStringConvertible {
    package let name: ExactText
    package let digest: SHA256Digest

    /// Nil for names that could lead out of a folder: with empty parts, `.` or `..`, control
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

    /// The address below the repository's; with a hash when files are kept under their digests.
    package func address(hash: String?) -> String {
        var parts = name.bytes.split(separator: 0x2F).map { PercentEncoding.encoded($0) }
        if let hash, let last = parts.popLast() { parts.append("\(hash).\(last)") }
        return parts.joined(separator: "/")
    }

    /// One file name that no other target has.
    package var fileName: String { FileName.safe(name.bytes) }

    package var description: String { name.description }
}

/// Names from outside as names of files in one folder of ours.
enum FileName {
    /// Encoded, so that no byte has a meaning; a digest where that would be too long for a disk.
    static func safe(_ bytes: [UInt8]) -> String {
        let encoded = PercentEncoding.encoded(bytes)
        guard encoded.utf8.count > 200 || encoded.hasPrefix(".") else { return encoded }
        // No encoded name begins like this: `s` is no hex digit.
        return "%sha256-\(SHA256.digest(of: bytes))"
    }
}
