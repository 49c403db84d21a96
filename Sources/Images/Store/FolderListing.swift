import Base
import Glibc

/// The names in a folder.
enum FolderListing {
    /// Sorted, without the folder itself and its parent; empty when the folder does not exist.
    static func names(in path: String) throws(ImageError) -> [String] {
        do throws(FileFault) { return try Folder.names(in: path) } catch {
            guard error.code != ENOENT else { return [] }
            throw .reading(path, error.code)
        }
    }
}
