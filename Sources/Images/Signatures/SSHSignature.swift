import Base

/// Why bytes are no signature of OpenSSH over a plan.
package enum SSHSignatureFault: Error, Equatable, Sendable, CustomStringConvertible {
    case noArmour
    case malformed
    case unusableKey
    case unknownDigest(String)
    /// It was made for another purpose.
    case otherNamespace(String)

    package var description: String {
        switch self {
        case .noArmour: "it is not enclosed in the lines of an SSH signature"
        case .malformed: "its content is no SSH signature of version 1"
        case .unusableKey: "its key is of no kind that can sign plans"
        case .unknownDigest(let name): "its digest \(name.visible) is neither sha256 nor sha512"
        case .otherNamespace(let name):
            "it was made for the namespace \(name.visible), not for \(SSHSignature.namespace)"
        }
    }
}

/// A signature of `ssh-keygen -Y sign -n yardmaster-plan` (OpenSSH's PROTOCOL.sshsig).
package struct SSHSignature: Sendable, Equatable {
    /// What our signatures are made for: those for mail, commits or logins are no approval.
    package static let namespace = "yardmaster-plan"
    package static let firstLine = "-----BEGIN SSH SIGNATURE-----"
    private static let lastLine = "-----END SSH SIGNATURE-----"
    private static let magic = Array("SSHSIG".utf8)

    /// The key that it says it was made with.
    package let key: SSHKey
    private let digest: String
    private let value: [UInt8]

    /// Reads the text between its two lines.
    package init(_ text: [UInt8]) throws(SSHSignatureFault) {
        let lines = MinisignSignature.lines(text)
        guard lines.count > 2, lines[0].elementsEqual(Self.firstLine.utf8),
            lines[lines.count - 1].elementsEqual(Self.lastLine.utf8),
            let bytes = Base64.bytes(lines.dropFirst().dropLast().flatMap(\.self))
        else { throw .noArmour }
        var reader = ByteReader(bytes)
        let parts: [[UInt8]]
        do throws(OutOfBytes) {
            guard try reader.bytes(Self.magic.count) == Self.magic,
                try reader.big(UInt32.self) == 1
            else { throw OutOfBytes(offset: 0, needed: 0) }
            parts = [
                try reader.sshString(), try reader.sshString(), try reader.sshString(),
                try reader.sshString(), try reader.sshString(),
            ]
        } catch { throw .malformed }
        guard reader.isAtEnd else { throw .malformed }
        guard let key = SSHKey(blob: parts[0]) else { throw .unusableKey }
        guard parts[1].elementsEqual(Self.namespace.utf8) else {
            throw .otherNamespace(String(decoding: parts[1], as: UTF8.self))
        }
        digest = String(decoding: parts[3], as: UTF8.self)
        guard ["sha256", "sha512"].contains(digest) else { throw .unknownDigest(digest) }
        self.key = key
        value = parts[4]
    }

    /// Whether the key's owner signed these bytes for our namespace.
    package func verifies(_ bytes: [UInt8]) -> Bool {
        let hash =
            digest == "sha512"
            ? LongDigest.sha512.digest(of: bytes) : SHA256.digest(of: bytes).bytes
        let parts = [Array(Self.namespace.utf8), [], Array(digest.utf8), hash]
        let message = parts.reduce(Self.magic) { $0 + UInt32($1.count).bigBytes + $1 }
        return key.verifies(value, of: message)
    }
}
