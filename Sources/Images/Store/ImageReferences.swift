package import Base
import Glibc

/// The images that each rollout needs, kept beside the store so that a clean-up spares them.
///
/// `images/references/NAME.list` has a digest in each line. It is written before an image is
/// requested, so that a needed image is at no moment without a reference.
package struct ImageReferences: Sendable {
    private static let sizeLimit = 16 << 20
    private static let draftEnding = ".new"

    private let store: StoreFolder

    package init(_ store: StoreFolder) { self.store = store }

    /// Sets the images that a rollout needs, replacing the earlier ones.
    package func set(
        _ rollout: String,
        _ digests: some Sequence<SHA256Digest>
    ) throws(ImageError) {
        let lines = Set(digests).sorted().map { "\($0)\n" }.joined()
        let path = path(of: rollout)
        if let old = try? Self.contents(of: path), old == Array(lines.utf8) { return }
        try store.make([store.root, store.references])
        // Other processes may write the same list now, and a killed one may have had our process
        // id.
        let draft = "\(path)-\(UInt64.random(in: .min ... .max))\(Self.draftEnding)"
        do throws(FileFault) {
            let file = try store.files.open(
                draft,
                flags: O_WRONLY | O_CREAT | O_EXCL,
                mode: 0o600
            )
            defer { close(file) }
            try store.files.writeAll(Array(lines.utf8), to: file, at: 0)
            try store.files.sync(file)
            try store.files.rename(draft, to: path)
            try store.files.syncFolder(store.references)
        } catch {
            try? store.files.remove(draft)
            throw .writing(path, error.code)
        }
    }

    /// Removes drafts of lists that ended processes left; only while no other process uses the
    /// store.
    func removeDrafts() throws(ImageError) {
        for name in try FolderListing.names(in: store.references)
        where name.hasSuffix(Self.draftEnding) {
            let path = store.references + "/" + name
            do throws(FileFault) { try store.files.remove(path) } catch {
                throw .writing(path, error.code)
            }
        }
    }

    /// Forgets the images that a rollout needs; false when there was no list.
    package func forget(_ rollout: String) throws(ImageError) -> Bool {
        let path = path(of: rollout)
        do throws(FileFault) {
            try store.files.remove(path)
            try store.files.syncFolder(store.references)
        } catch {
            guard error.code != ENOENT else { return false }
            throw .writing(path, error.code)
        }
        return true
    }

    /// All rollouts with their images, by name.
    ///
    /// A list that cannot be parsed is an error, because its images would be removed.
    package func all() throws(ImageError) -> [(rollout: String, digests: [SHA256Digest])] {
        var all: [(rollout: String, digests: [SHA256Digest])] = []
        for file in try FolderListing.names(in: store.references) where file.hasSuffix(".list") {
            let path = store.references + "/" + file
            var digests: [SHA256Digest] = []
            let text = String(decoding: try Self.contents(of: path), as: UTF8.self)
            for line in text.split(separator: "\n") {
                guard let digest = SHA256Digest(line) else { throw .damaged(path) }
                digests.append(digest)
            }
            all.append((String(file.dropLast(".list".count)), digests))
        }
        return all
    }

    /// Names in manifests have no slash; slashes in other names are replaced.
    private func path(of rollout: String) -> String {
        let name = rollout.utf8.prefix(200).map { byte -> UInt8 in
            byte == 0x2F || byte < 0x20 || byte > 0x7E ? 0x5F : byte
        }
        return "\(store.references)/\(String(decoding: name, as: UTF8.self)).list"
    }

    private static func contents(of path: String) throws(ImageError) -> [UInt8] {
        let file = try ImageFile(reading: path, following: false)
        var bytes: [UInt8] = []
        try file.read { piece throws(ImageError) in
            guard bytes.count + piece.count <= sizeLimit else { throw .damaged(path) }
            piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
