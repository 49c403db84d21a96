import Glibc

/// Reads a secret from a file that only its owner can read.
package enum SecretFile {
    package enum Fault: Error, Equatable, Sendable {
        case file(FileFault)
        case isOpenToOthers
        case belongsToAnother
        case tooLong

        package func sentence(of path: String) -> String {
            switch self {
            case .file(.notAFile): "\(path) is no regular file"
            case .file(let fault): "\(path): \(fault)"
            case .isOpenToOthers: "\(path) can be read by other users"
            case .belongsToAnother: "\(path) belongs to another user"
            case .tooLong: "\(path) is too long for a secret"
            }
        }
    }

    /// Permissions of others, with which a file is no secret.
    package static let openToOthers: UInt32 = 0o077
    /// The same for a credential: the service manager may give it to be read through an access
    /// control list, which looks like a permission of the group; its folder is closed to all others.
    package static let openCredential: UInt32 = 0o037

    /// Refuses a file with one of the `forbidden` permissions: its content would not be secret.
    package static func read(
        _ path: String,
        forbidding forbidden: UInt32 = openToOthers,
        shorterThan limit: Int,
        ofAnyoneForRoot: Bool = false
    ) throws(Fault) -> Secret {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(FileFault(code: errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(.notAFile)
        }
        guard status.st_mode & forbidden == 0 else {
            throw .isOpenToOthers
        }
        guard
            status.st_uid == geteuid() || status.st_uid == 0 || ofAnyoneForRoot && geteuid() == 0
        else { throw .belongsToAnother }
        var bytes = [UInt8](repeating: 0, count: limit)
        defer { bytes.wipe() }
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .file(FileFault(code: errno)) }
        guard count < limit else { throw .tooLong }
        return Secret(Array(bytes[..<count]))
    }
}
