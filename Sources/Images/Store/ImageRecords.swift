package import Base
import CLinux
import Glibc

/// Facts about the images of a store, for people: one file with a line for each.
///
/// A line of `images/origins` is a digest, a space and the facts about that image; of several lines
/// for one digest the last one counts. It is one file for all images, because a separate file for
/// each would cost as much as fetching a small image. When a crash left an incomplete last line,
/// the next writer cuts it off.
package struct ImageRecords: Sendable {
    private static let sizeLimit = 64 << 20
    /// The number of outdated lines that may remain, in addition to as many as there are valid
    /// ones.
    private static let slack = 64

    private let store: StoreFolder
    private let path: String

    package init(_ store: StoreFolder) {
        self.store = store
        path = store.root + "/origins"
    }

    /// The record of each image; empty when the file is missing or cannot be read.
    package func all() -> [SHA256Digest: [UInt8]] {
        guard let file = try? FilePlace.open(path, O_RDONLY) else { return [:] }
        defer { close(file) }
        return Self.contents(of: file).map { Lines($0).latest } ?? [:]
    }

    /// Replaces the records of some images by the results of `change`; on disk when this returns.
    ///
    /// `change` is called in the order of `digests`, with the index of each and its record so far.
    /// No other process changes a record meanwhile.
    package func update(
        _ digests: [SHA256Digest],
        _ change: (Int, [UInt8]?) -> [UInt8]
    ) throws(ImageError) {
        guard !digests.isEmpty else { return }
        try store.make([store.root])
        let file = try held()
        defer { FileLock.release(file) }
        let bytes = Self.contents(of: file)
        var lines = Lines(bytes ?? [])
        var added: [UInt8] = []
        for (index, digest) in digests.enumerated() {
            let known = lines.latest[digest]
            let record = change(index, known)
            precondition(!record.contains(0x0A), "a record is one line")
            guard record != known else { continue }
            lines.latest[digest] = record
            lines.count += 1
            added += Self.line(digest, record)
        }
        guard !added.isEmpty else { return }
        guard bytes != nil, lines.count <= 2 * lines.latest.count + Self.slack else {
            return try rewrite(lines.latest)
        }
        do throws(FileFault) {
            if lines.end < bytes?.count ?? 0 { try store.files.truncate(file, to: lines.end) }
            try store.files.writeAll(added, to: file, at: lines.end)
            try store.files.sync(file)
            if lines.end == 0 { try store.files.syncFolder(store.root) }
        } catch { throw .writing(path, error.code) }
    }

    /// Keeps only these images, for a clean-up.
    func keep(only images: Set<SHA256Digest>) throws(ImageError) {
        guard access(path, F_OK) == 0 else { return }
        let file = try held()
        defer { FileLock.release(file) }
        guard let bytes = Self.contents(of: file) else { return }
        let latest = Lines(bytes).latest
        let kept = latest.filter { images.contains($0.key) }
        if kept.count < latest.count { try rewrite(kept) }
    }

    /// The file, locked for this process: when the locked file was replaced meanwhile, the new one
    /// is opened.
    private func held() throws(ImageError) -> Int32 {
        while true {
            let file: Int32
            do throws(FileFault) {
                file = try store.files.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
            } catch { throw .writing(path, error.code) }
            guard try FileLock.hold(file, path, 0) else {
                preconditionFailure("a lock was waited for and not had")
            }
            if FileLock.isNamed(file, path) { return file }
            close(file)
        }
    }

    /// Replaces the locked file by a new one; because of the lock, its draft needs only one name.
    private func rewrite(_ records: [SHA256Digest: [UInt8]]) throws(ImageError) {
        let draft = path + ".new"
        let lines = records.sorted { $0.key < $1.key }.flatMap { Self.line($0.key, $0.value) }
        do throws(FileFault) {
            let file = try store.files.open(
                draft,
                flags: O_WRONLY | O_CREAT | O_TRUNC,
                mode: 0o600
            )
            defer { close(file) }
            try store.files.writeAll(lines, to: file, at: 0)
            try store.files.sync(file)
            try store.files.rename(draft, to: path)
            try store.files.syncFolder(store.root)
        } catch {
            try? store.files.remove(draft)
            throw .writing(path, error.code)
        }
    }

    private static func line(_ digest: SHA256Digest, _ record: [UInt8]) -> [UInt8] {
        Array(digest.description.utf8) + [0x20] + record + [0x0A]
    }

    /// Nil when there is more than we ever write, or it cannot be read.
    private static func contents(of file: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= sizeLimit
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress.map { $0 + count }, buffer.count - count, count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    private struct Lines {
        var latest: [SHA256Digest: [UInt8]] = [:]
        var count = 0
        /// The end of the last complete line.
        private(set) var end = 0

        init(_ bytes: [UInt8]) {
            while let newline = bytes[end...].firstIndex(of: 0x0A) {
                let line = bytes[end..<newline]
                end = newline + 1
                count += 1
                let name = line.prefix(64)
                guard line.dropFirst(64).first == 0x20,
                    let digest = SHA256Digest(String(decoding: name, as: UTF8.self))
                else { continue }
                latest[digest] = Array(line.dropFirst(65))
            }
        }
    }
}
