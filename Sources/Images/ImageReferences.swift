package import Domain
import Glibc

/// Which images a rollout needs, kept beside the store so that cleaning up spares them.
///
/// `images/references/NAME.list` holds a digest a line. It is written before an image is asked for,
/// so that there is no moment in which one that is needed could be taken for litter.
package struct ImageReferences: Sendable {
    private static let sizeLimit = 16 << 20
    private static let draftEnding = ".new"

    private let store: StoreFolder

    package init(_ store: StoreFolder) { self.store = store }

    /// Says what a rollout needs from now on, in place of what it needed before.
    package func set(
        _ rollout: String,
        _ digests: some Sequence<SHA256Digest>
    ) throws(ImageError) {
        let lines = Set(digests).sorted().map { "\($0)\n" }.joined()
        let path = path(of: rollout)
        if let old = try? Self.contents(of: path), old == Array(lines.utf8) { return }
        try store.make([store.root, store.references])
        // Others may write the same list at this moment, and one that was killed had our number.
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

    /// Removes what processes that ended left of lists; only while nobody uses the store.
    func removeDrafts() throws(ImageError) {
        for name in try FolderListing.names(in: store.references)
        where name.hasSuffix(Self.draftEnding) {
            let path = store.references + "/" + name
            do throws(FileFault) { try store.files.remove(path) } catch {
                throw .writing(path, error.code)
            }
        }
    }

    /// Forgets what a rollout needs; false when nothing was known of it.
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

    /// Every rollout with what it needs, by name; a list that makes no sense is an error, because
    /// what it names would be lost.
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

    /// A name of the manifest has no slash; one from elsewhere is made to have none.
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
