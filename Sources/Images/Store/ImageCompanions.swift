package import Base
import Glibc

/// Small files that are kept in the store beside an image, and are removed with it.
///
/// `images/sha256/ab/<digest>.<name>`: a verified signature, a bill of materials. Every reader
/// verifies them again.
package struct ImageCompanions: Sendable {
    static let draftEnding = ".fresh"

    private let store: StoreFolder

    package init(_ store: StoreFolder) { self.store = store }

    private func path(_ name: String, of digest: SHA256Digest) -> String {
        "\(store.path(of: digest)).\(name)"
    }

    /// Nil when the file does not exist or cannot be read.
    package func read(_ name: String, of digest: SHA256Digest, limit: Int64) -> [UInt8]? {
        guard let file = try? ImageFile(reading: path(name, of: digest), following: false) else {
            return nil
        }
        var bytes: [UInt8] = []
        let isRead: Void? = try? file.read { piece throws(ImageError) in
            guard Int64(bytes.count + piece.count) <= limit else { throw .damaged(name) }
            piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        }
        return isRead == nil ? nil : bytes
    }

    /// Stores a file and replaces an existing one of this name; on disk when this returns.
    package func keep(
        _ bytes: [UInt8],
        as name: String,
        of digest: SHA256Digest
    ) throws(ImageError) {
        let path = path(name, of: digest)
        if read(name, of: digest, limit: Int64(bytes.count)) == bytes { return }
        try store.prepare(for: digest)
        // A random name, so that no other process has it, not even a killed one with our process
        // id.
        let draft = "\(path)-\(UInt64.random(in: .min ... .max))\(Self.draftEnding)"
        do throws(FileFault) {
            let file = try store.files.open(draft, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            defer { close(file) }
            try store.files.writeAll(bytes, to: file, at: 0)
            try store.files.sync(file)
            try store.files.rename(draft, to: path)
            try store.files.syncFolder(store.folder(of: digest))
        } catch {
            try? store.files.remove(draft)
            throw .writing(path, error.code)
        }
    }

    /// The names of the files beside an image, in ascending order.
    func names(of digest: SHA256Digest) throws(ImageError) -> [String] {
        let mark = "\(digest)."
        return try FolderListing.names(in: store.folder(of: digest)).compactMap { name in
            guard name.hasPrefix(mark), !name.hasSuffix(Self.draftEnding) else { return nil }
            let own = String(name.dropFirst(mark.count))
            return own == "part" || own == "note" ? nil : own
        }
    }
}
