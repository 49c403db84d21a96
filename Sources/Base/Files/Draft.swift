import Glibc

/// A file in the making, beside the one that it replaces: that one is complete at any moment, old
/// or new.
///
/// Several processes can write the same file at the same time: each has a draft of its own, and the
/// last one to publish wins. A draft is locked, and the lock ends with its process, so that the
/// next process with the same file removes it.
package final class Draft {
    package let descriptor: CInt
    private let place: FilePlace
    private let draft: FilePlace
    private var isPublished = false

    private init(_ descriptor: CInt, _ draft: FilePlace, for place: FilePlace) {
        self.descriptor = descriptor
        self.draft = draft
        self.place = place
    }

    deinit {
        if !isPublished { try? draft.remove() }
        close(descriptor)
    }

    /// The draft, or why there is none.
    ///
    /// Its mode is `mode` reduced by the process's mask.
    package static func begin(for path: String, mode: UInt32) -> Result<Draft, FileFault> {
        do throws(FileFault) { return .success(try begin(for: FilePlace(path), mode)) } catch {
            return .failure(error)
        }
    }

    private static func begin(for place: FilePlace, _ mode: UInt32) throws(FileFault) -> Draft {
        removeOrphans(of: place)
        while true {
            let name = place.beside("\(place.name).\(Self.mark())\(ending)")
            let descriptor: CInt
            do throws(FileFault) {
                descriptor = try name.open(O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            } catch {
                if error.code == EEXIST || error.code == EINTR { continue }
                throw error
            }
            let draft = Draft(descriptor, name, for: place)
            var status = stat()
            // Another process may have taken it for an orphan before it was locked.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { continue }
            if unsafe fstat(descriptor, &status) == 0, status.st_nlink == 0 { continue }
            return draft
        }
    }

    /// Writes it to disk and gives it its name; returns the error number.
    package func publish() -> CInt? {
        guard fsync(descriptor) == 0 else { return errno }
        do throws(FileFault) {
            try place.folder.rename(draft.name, to: place.name)
            isPublished = true
            try place.folder.sync()
            return nil
        } catch { return error.code }
    }

    /// Writes a whole file.
    ///
    /// With `isExact` its mode is exactly this one, whatever the process's mask, and its owner is
    /// the one of the file at `likeness`, so that a service can read what root has written; or, when
    /// root writes it, `owner`.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32,
        isExact: Bool = false,
        ownedAs likeness: String? = nil,
        ownedBy owner: Owner? = nil
    ) -> CInt? {
        switch begin(for: path, mode: mode) {
        case .failure(let fault): return fault.code
        case .success(let draft):
            if let code = draft.write(bytes) { return code }
            if let likeness, let code = draft.belong(as: likeness) { return code }
            if geteuid() == 0, let owner, let group = owner.group,
                fchown(draft.descriptor, owner.id, group) != 0
            {
                return errno
            }
            if isExact, fchmod(draft.descriptor, mode) != 0 { return errno }
            return draft.publish()
        }
    }

    /// Gives it the owner of a file or, when that does not exist yet, of the folder that it will be
    /// in.
    private func belong(as path: String) -> CInt? {
        let facts: FileFacts
        do throws(FileFault) {
            let likeness = try FilePlace(path)
            if let own = try likeness.facts() {
                facts = own
            } else {
                facts = try likeness.folder.facts()
            }
        } catch { return nil }
        // Without root the owner of a file cannot be changed, but its group can be one of the
        // user's.
        guard geteuid() == 0 else {
            _ = fchown(descriptor, .max, facts.group)
            return nil
        }
        return fchown(descriptor, facts.owner, facts.group) == 0 ? nil : errno
    }

    private func write(_ bytes: [UInt8]) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EIO : errno }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    /// Creates the folder of a file, accessible for its owner only: the owner of the folder above.
    package static func makeFolder(of path: String) {
        try? FilePlace.makeFolder(FilePlace.folder(of: path))
    }

    /// Syncs the folder of a file.
    package static func sync(folderOf path: String) {
        try? Folder.open(FilePlace.folder(of: path)).sync()
    }

    // MARK: Leftovers

    private static let ending = ".part"

    /// A random name, so that no other process has it, not even a killed one with our process id.
    private static func mark() -> String {
        Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Whether this is the name of a draft.
    package static func isName(_ name: String) -> Bool {
        guard name.hasSuffix(ending) else { return false }
        let mark = name.utf8.dropLast(ending.utf8.count).split(separator: 0x2E).last ?? [][...]
        return Hex.bytes(String(decoding: mark, as: UTF8.self))?.count == 8
    }

    /// Removes the drafts of processes that have ended.
    private static func removeOrphans(of place: FilePlace) {
        let own = place.name + "."
        for name in (try? place.folder.names()) ?? [] {
            guard name.utf8.count == own.utf8.count + 16 + ending.utf8.count, name.hasPrefix(own),
                name.hasSuffix(ending)
            else { continue }
            let orphan = place.beside(name)
            guard let descriptor = try? orphan.open(O_RDONLY) else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? orphan.remove() }
            close(descriptor)
        }
    }
}
