import Glibc

/// The names in a folder.
enum FolderListing {
    /// Sorted, without the folder itself and its parent; empty when the folder does not exist.
    static func names(in path: String) throws(ImageError) -> [String] {
        guard let folder = opendir(path) else {
            guard errno != ENOENT else { return [] }
            throw .reading(path, errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
