package import Base
import Glibc

/// Why an image is not available; no case allows using it nevertheless.
package enum ImageError: Error, Equatable {
    case missing(String)
    case isDirectory(String)
    /// A pipe, a socket or a device.
    case notAFile(String)
    case notPermitted(String)
    case cannotRead(String, code: CInt)
    case tooLarge(limit: ByteCount)
    /// It is longer than the promised size.
    case tooLong(expected: ByteCount)
    case wrongSize(expected: ByteCount, actual: ByteCount)
    case wrongDigest(expected: SHA256Digest, actual: SHA256Digest)
    /// The store's own copy has changed.
    case damaged(String)
    case full(String)
    case readOnly(String)
    case cannotWrite(String, code: CInt)
    case cancelled
}

extension ImageError {
    static func reading(_ path: String, _ code: CInt) -> ImageError {
        switch code {
        case ENOENT, ENOTDIR: .missing(path)
        case EACCES, EPERM: .notPermitted(path)
        case EISDIR: .isDirectory(path)
        case ENXIO: .notAFile(path)
        default: .cannotRead(path, code: code)
        }
    }

    static func writing(_ path: String, _ code: CInt) -> ImageError {
        switch code {
        case ENOSPC, EDQUOT: .full(path)
        case EROFS: .readOnly(path)
        case EACCES, EPERM: .notPermitted(path)
        default: .cannotWrite(path, code: code)
        }
    }
}

extension ImageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path): "there is no file \(path)"
        case .isDirectory(let path): "\(path) is a directory, not an image"
        case .notAFile(let path): "\(path) is no regular file"
        case .notPermitted(let path): "\(path) cannot be used: permission denied"
        case .cannotRead(let path, let code):
            "\(path) cannot be read: \(String(cString: strerror(code)))"
        case .tooLarge(let limit): "the image is larger than \(limit)"
        case .tooLong(let expected):
            "the image is longer than the \(expected.bytes) bytes promised"
        case .wrongSize(let expected, let actual):
            "the image has \(actual.bytes) bytes instead of \(expected.bytes)"
        case .wrongDigest(let expected, let actual):
            "the image has SHA-256 \(actual) instead of \(expected)"
        case .damaged(let path): "the stored image \(path) was changed since it was verified"
        case .full(let path): "\(path) cannot be written: the disk is full"
        case .readOnly(let path): "\(path) cannot be written: the file system is read-only"
        case .cannotWrite(let path, let code):
            "\(path) cannot be written: \(String(cString: strerror(code)))"
        case .cancelled: "cancelled"
        }
    }
}
