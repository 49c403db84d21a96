package import Base
import CLinux
import Glibc

/// The contents of a store: lists, verifies and cleans up.
package struct ImageInventory: Sendable {
    /// One image in the store, or a part of one.
    package struct Entry: Sendable, Equatable {
        package let digest: SHA256Digest
        package let size: ByteCount
        /// Whether it is incomplete, and so not trusted.
        package let isPart: Bool
        let path: String
    }

    private let store: StoreFolder

    package init(_ store: StoreFolder) { self.store = store }

    /// All images and parts, by digest.
    package func entries() throws(ImageError) -> [Entry] {
        var entries: [Entry] = []
        let root = store.root + "/sha256"
        for folder in try FolderListing.names(in: root) {
            for name in try FolderListing.names(in: "\(root)/\(folder)") {
                let isPart = name.hasSuffix(".part")
                let path = "\(root)/\(folder)/\(name)"
                var status = stat()
                guard let digest = SHA256Digest(isPart ? name.dropLast(5) : name[...]),
                    digest.description.hasPrefix(folder), lstat(path, &status) == 0,
                    status.st_mode & S_IFMT == S_IFREG
                else { continue }
                entries.append(
                    Entry(
                        digest: digest,
                        size: ByteCount(count: UInt(max(0, status.st_size))),
                        isPart: isPart,
                        path: path
                    )
                )
            }
        }
        return entries.sorted { ($0.digest, $0.path) < ($1.digest, $1.path) }
    }

    /// Whether the bytes match the digest in the name; reads all of them.
    package func isRight(_ entry: Entry) throws(ImageError) -> Bool {
        let file = try ImageFile(reading: entry.path, following: false)
        var hash = SHA256()
        try file.read { piece throws(ImageError) in
            guard !Task.isCancelled else { throw .cancelled }
            hash.update(piece)
        }
        return hash.finish() == entry.digest
    }

    /// Removes everything that no rollout refers to, and files that a crash left.
    ///
    /// Images in `spared` stay in any case. To be called only under a `cleaning` lock.
    package func prune(
        under _: borrowing StoreLock,
        sparing spared: Set<SHA256Digest> = []
    ) throws(ImageError) -> [Entry] {
        let needed = spared.union(try ImageReferences(store).all().flatMap(\.digests))
        var removed: [Entry] = []
        var folders: Set<String> = []
        for entry in try entries() where !needed.contains(entry.digest) {
            do throws(FileFault) { try store.files.remove(entry.path) } catch {
                throw .writing(entry.path, error.code)
            }
            removed.append(entry)
            folders.insert(store.folder(of: entry.digest))
        }
        try removeNotes(&folders)
        try removeCompanions(&folders)
        try ImageRecords(store).keep(only: Set(try entries().map(\.digest)))
        try ImageReferences(store).removeDrafts()
        for folder in folders.sorted() {
            do throws(FileFault) { try store.files.syncFolder(folder) } catch {
                throw .writing(folder, error.code)
            }
        }
        return removed
    }

    /// Removes the companions of removed images, and drafts of processes that ended.
    private func removeCompanions(_ folders: inout Set<String>) throws(ImageError) {
        let root = store.root + "/sha256"
        for folder in try FolderListing.names(in: root) {
            let names = try FolderListing.names(in: "\(root)/\(folder)")
            let images = Set(names.filter { SHA256Digest($0) != nil })
            for name in names where !images.contains(name) {
                guard let dot = name.firstIndex(of: "."), SHA256Digest(name[..<dot]) != nil,
                    !name.hasSuffix(".part"), !name.hasSuffix(".note")
                else { continue }
                let isDraft = name.hasSuffix(ImageCompanions.draftEnding)
                guard isDraft || !images.contains(String(name[..<dot])) else { continue }
                let path = "\(root)/\(folder)/\(name)"
                do throws(FileFault) { try store.files.remove(path) } catch {
                    throw .writing(path, error.code)
                }
                folders.insert("\(root)/\(folder)")
            }
        }
    }

    /// Removes notes without a part: they have no use.
    private func removeNotes(_ folders: inout Set<String>) throws(ImageError) {
        let root = store.root + "/sha256"
        for folder in try FolderListing.names(in: root) {
            let names = try FolderListing.names(in: "\(root)/\(folder)")
            for name in names where name.hasSuffix(".note") {
                guard !names.contains(name.dropLast(5) + ".part") else { continue }
                let path = "\(root)/\(folder)/\(name)"
                do throws(FileFault) { try store.files.remove(path) } catch {
                    throw .writing(path, error.code)
                }
                folders.insert("\(root)/\(folder)")
            }
        }
    }
}
