package import Base
package import Families

/// Why a file is not an MCUboot image that can be sent.
package enum MCUbootFileError: Error, Equatable, CustomStringConvertible {
    case structure(MCUbootError)
    /// The content of the image does not match its own hash.
    case wrongHash(MCUbootValue.Kind)
    /// More than any module accepts.
    case tooLarge(limit: Int)

    package var description: String {
        switch self {
        case .structure(let error): error.description
        case .wrongHash(let kind): "the image is damaged: its \(kind) is not that of its content"
        case .tooLarge(let limit): "the image is larger than \(limit) bytes"
        }
    }

    /// The offset of the fault, when it is at one byte.
    var offset: Int? {
        guard case .structure(let error) = self else { return nil }
        return error.offset
    }
}

/// An MCUboot image whose hash was checked, as far as that is possible without decrypting it.
package struct MCUbootFile: Sendable, Equatable {
    static let sizeLimit = 64 << 20

    package let bytes: [UInt8]
    package let image: MCUbootImage
    /// The digest of the whole file: by this a device recognises an interrupted upload.
    package let digest: SHA256Digest
    /// Whether its content matches its hash; false for an encrypted image, which only a module can
    /// check.
    package let isChecked: Bool

    package init(_ bytes: [UInt8]) throws(MCUbootFileError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        do throws(MCUbootError) {
            image = try MCUbootImage(bytes)
        } catch { throw .structure(error) }
        isChecked = image.matches(bytes)
        guard isChecked || image.isEncrypted else {
            throw .wrongHash(image.hashKind)
        }
        self.bytes = bytes
        digest = SHA256.digest(of: bytes)
    }

    /// Warnings for people, before the image is sent.
    package var warnings: [String] {
        var warnings: [String] = []
        if image.trailer?.isConfirmed == true {
            warnings.append(
                "it is already confirmed, so it would run permanently without a trial; "
                    + "sign it without --confirm"
            )
        } else if image.trailer != nil {
            warnings.append("it is padded to a whole slot; sign it without --pad")
        }
        if image.signatures.isEmpty {
            warnings.append("it has no signature; bootloaders that require one refuse it")
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
