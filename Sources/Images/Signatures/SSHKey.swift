import Base
import COpenSSL

/// A public key of OpenSSH with which plans may be signed, as in a `.pub` file.
///
/// The formats are those of RFC 4253 (6.6), RFC 5656 and RFC 8709, and for keys in hardware of
/// OpenSSH's PROTOCOL.u2f.
package struct SSHKey: Sendable, Hashable, CustomStringConvertible {
    /// The curves of ECDSA keys (RFC 5480, 2.1.1.1) and the sizes of points on them, by their names in OpenSSH.
    private static let curves: [String: (id: [UInt8], size: Int)] = [
        "nistp256": ([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], 65),
        "nistp384": ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22], 97),
        "nistp521": ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23], 133),
    ]
    private static let ecdsa: [UInt8] = [
        0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
    ]
    private static let rsa: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    private static let ed25519: [UInt8] = [0x06, 0x03, 0x2B, 0x65, 0x70]
    /// The size of the smallest RSA key, in bytes.
    private static let smallestModulus = 256

    package let type: String
    /// The key as lines and signatures contain it.
    package let blob: [UInt8]
    /// The same key in DER (SubjectPublicKeyInfo).
    private let encoded: [UInt8]
    /// What a key in hardware was made for; nil for other keys.
    private let application: [UInt8]?

    /// Reads the line of a `.pub` file, with its comment or without.
    package init?(line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let blob = Base64.bytes(Array(words[1].utf8)),
            let key = SSHKey(blob: blob), key.type == words[0]
        else { return nil }
        self = key
    }

    init?(blob: [UInt8]) {
        var reader = ByteReader(blob)
        guard let parts = try? Self.parts(&reader), reader.isAtEnd,
            let key = VerifyingKey.opened(parts.encoded)
        else {
            ERR_clear_error()
            return nil
        }
        EVP_PKEY_free(key)
        self.blob = blob
        (type, encoded, application) = parts
    }

    private static func parts(
        _ reader: inout ByteReader
    ) throws(OutOfBytes) -> (type: String, encoded: [UInt8], application: [UInt8]?)? {
        let type = try reader.sshText()
        let encoded: [UInt8]
        switch type {
        case "ssh-ed25519", "sk-ssh-ed25519@openssh.com":
            let point = try reader.sshString()
            guard point.count == 32 else { return nil }
            encoded = DER.publicKey(ed25519, point)
        case "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
            "sk-ecdsa-sha2-nistp256@openssh.com":
            let name = try reader.sshText()
            let point = try reader.sshString()
            guard let curve = curves[name], type.contains("-\(name)"), point.count == curve.size,
                point.first == 0x04
            else { return nil }
            encoded = DER.publicKey(ecdsa + curve.id, point)
        case "ssh-rsa":
            let exponent = try reader.sshString()
            let modulus = Array(try reader.sshString().drop { $0 == 0 })
            guard (1...8).contains(exponent.count),
                (smallestModulus...2_048).contains(modulus.count)
            else { return nil }
            let key = DER.sequence(DER.natural(modulus) + DER.natural(exponent))
            encoded = DER.publicKey(rsa, key)
        default: return nil
        }
        return (type, encoded, type.hasPrefix("sk-") ? try reader.sshString() : nil)
    }

    /// The same for all spellings of one key, and for both programs that use it.
    var identity: [UInt8] { encoded + (application ?? []) }

    /// The fingerprint that `ssh-keygen -l` prints.
    package var description: String {
        "SHA256:" + Base64.text(SHA256.digest(of: blob).bytes).prefix { $0 != "=" }
    }

    /// Whether a signature, as its algorithm's name and its bytes, is one of this key over the message.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        var reader = ByteReader(signature)
        guard let algorithm = try? reader.sshText(), let value = try? reader.sshString() else {
            return false
        }
        // RSA keys also sign with SHA-1 under the name of the key.
        guard algorithm == (type == "ssh-rsa" ? "rsa-sha2-512" : type) else { return false }
        var message = message
        if let application {
            // Bit 0: somebody touched the hardware.
            guard let flags = try? reader.byte(), flags & 1 == 1,
                let count = try? reader.bytes(4)
            else { return false }
            message =
                SHA256.digest(of: application).bytes + [flags] + count
                + SHA256.digest(of: message).bytes
        }
        guard reader.isAtEnd else { return false }
        switch type {
        case "ssh-rsa":
            return VerifyingKey.holds(value, of: message, by: encoded, EVP_sha512())
        case "ssh-ed25519", "sk-ssh-ed25519@openssh.com":
            return value.count == 64 && VerifyingKey.holds(value, of: message, by: encoded, nil)
        default:
            var numbers = ByteReader(value)
            guard let r = try? numbers.sshString(), let s = try? numbers.sshString(),
                numbers.isAtEnd
            else { return false }
            let digest =
                switch type {
                case "ecdsa-sha2-nistp384": EVP_sha384()
                case "ecdsa-sha2-nistp521": EVP_sha512()
                default: EVP_sha256()
                }
            let pair = DER.sequence(DER.natural(r) + DER.natural(s))
            return VerifyingKey.holds(pair, of: message, by: encoded, digest)
        }
    }
}

extension ByteReader {
    /// A string of SSH: its length in four bytes, then its bytes (RFC 4251, 5).
    mutating func sshString() throws(OutOfBytes) -> [UInt8] {
        try bytes(Int(try big(UInt32.self)))
    }

    mutating func sshText() throws(OutOfBytes) -> String {
        String(decoding: try sshString(), as: UTF8.self)
    }
}
