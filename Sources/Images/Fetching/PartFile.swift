import Base
import CLinux
import Glibc

/// The file of a part, as it was found: new, writable, or already sealed.
///
/// A process that ends between sealing its part and naming it leaves a file that only root can open
/// for writing. The file is ours nevertheless, and its owner may unseal it.
enum PartFile {
    /// The file is new.
    case made(Int32)
    case toWrite(Int32)
    /// Opened for reading only.
    case sealed(Int32)

    static let mode: mode_t = 0o600

    static func open(_ path: String, in store: StoreFolder) throws(ImageError) -> PartFile {
        let flags = O_RDWR | O_CREAT
        do throws(FileFault) {
            do throws(FileFault) {
                return .made(
                    try store.files.open(path, flags: flags | O_EXCL, mode: UInt32(mode))
                )
            } catch {
                guard error.code == EEXIST else { throw error }
                return .toWrite(try store.files.open(path, flags: flags, mode: UInt32(mode)))
            }
        } catch {
            guard error.code == EACCES, let descriptor = ownSealed(path) else {
                throw .writing(path, error.code)
            }
            return .sealed(descriptor)
        }
    }

    /// Nil unless it is a file of this user that only its mode forbids to write.
    private static func ownSealed(_ path: String) -> Int32? {
        guard let descriptor = try? FilePlace.open(path, O_RDONLY) else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            status.st_uid == geteuid(), status.st_mode & 0o200 == 0
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
