import Digests
package import Domain
package import Protocols

/// Why a file is no MCUboot image that can be sent.
package enum MCUbootFileError: Error, Equatable, CustomStringConvertible {
    case structure(MCUbootError)
    /// What the image holds is not what its own hash is of.
    case wrongHash(MCUbootValue.Kind)
    /// More than any module takes.
    case tooLarge(limit: Int)

    package var description: String {
        switch self {
        case .structure(let error): error.description
        case .wrongHash(let kind): "the image is damaged: its \(kind) is not that of its content"
        case .tooLarge(let limit): "the image is larger than \(limit) bytes"
        }
    }

    /// The byte where it is seen, when it is one.
    package var offset: Int? {
        guard case .structure(let error) = self else { return nil }
        return error.offset
    }
}

/// An MCUboot image whose own hash holds, as far as anybody can say who cannot decrypt it.
package struct MCUbootFile: Sendable, Equatable {
    package static let sizeLimit = 64 << 20

    package let bytes: [UInt8]
    package let image: MCUbootImage
    /// Of the whole file: by this a device knows an upload again.
    package let digest: SHA256Digest
    /// Its content has its own hash; false where it is encrypted, so that only a module can tell.
    package let isChecked: Bool

    package init(_ bytes: [UInt8]) throws(MCUbootFileError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        do throws(MCUbootError) {
            image = try MCUbootImage(bytes)
        } catch { throw .structure(error) }
        // The hash of an encrypted image is that of what it was before.
        let isChecked = Self.hash(image.hashKind, of: bytes[image.hashedRange]) == image.hash
        guard isChecked || image.isEncrypted else {
            throw .wrongHash(image.hashKind)
        }
        self.isChecked = isChecked
        self.bytes = bytes
        digest = SHA256.digest(of: bytes)
    }

    private static func hash(_ kind: MCUbootValue.Kind, of bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch kind {
        case .sha384: LongDigest.sha384.digest(of: Array(bytes))
        case .sha512: LongDigest.sha512.digest(of: Array(bytes))
        default: SHA256.digest(of: Array(bytes)).bytes
        }
    }

    /// What a person should know before it is sent.
    package var warnings: [String] {
        var warnings: [String] = []
        if image.trailer?.isConfirmed == true {
            warnings.append(
                "it is confirmed already, so it would run for good without a test; "
                    + "sign it without --confirm"
            )
        } else if image.trailer != nil {
            warnings.append("it is padded to a whole slot; sign it without --pad")
        }
        if image.signatures.isEmpty {
            warnings.append("it has no signature; any bootloader that asks for one refuses it")
        }
        if !isChecked {
            warnings.append(
                "it is encrypted, so only the module can tell whether its content is damaged"
            )
        }
        if image.header.flags.contains(.notBootable) {
            warnings.append("it is marked as not bootable")
        }
        return warnings
    }
}
