import Base
import Glibc
import Synchronization

/// A folder that receives verified files: each gets its name completely written, or not at all.
///
/// A draft is written into another folder under a name of its own. Its final name could be the name
/// of another file's draft, and leftovers of a crash or a full disk must not be among the files.
/// When the two folders are on different file systems, the draft must be in this one, and carries
/// the process id so that it can be removed later.
package struct DeliveryFolder: Sendable {
    private static let mark = ".yardmaster-draft-"
    private static let drafts = Atomic(0)

    private let target: TrustFolder
    private let workshop: TrustFolder

    /// `workshop` is a folder that this process has locked, for the drafts.
    package init(_ target: TrustFolder, drafts workshop: TrustFolder) throws(StorageError) {
        self.target = target
        self.workshop = workshop
        for name in try workshop.names() where name.hasPrefix(Self.mark) {
            try workshop.remove(name)
        }
        for name in try target.names() where Self.isOrphan(name) { try target.remove(name) }
    }

    /// Whether it is a draft of a process that has ended.
    private static func isOrphan(_ name: String) -> Bool {
        guard name.hasPrefix(mark),
            let process = Int32(name.dropFirst(mark.count).prefix { $0 != "-" }), process > 0
        else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    package func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        try target.read(name, limit: limit)
    }

    /// Writes a file and replaces an existing one.
    package func deliver(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        let number = Self.drafts.add(1, ordering: .relaxed).newValue
        let draft = "\(Self.mark)\(getpid())-\(number)"
        do throws(StorageError) {
            try deliver(name, bytes, by: draft, in: workshop)
        } catch {
            guard error.operation == .rename, error.code == EXDEV else { throw error }
            try deliver(name, bytes, by: draft, in: target)
        }
    }

    private func deliver(
        _ name: String,
        _ bytes: [UInt8],
        by draft: String,
        in folder: TrustFolder
    ) throws(StorageError) {
        do throws(StorageError) {
            try folder.write(draft, bytes)
            try folder.sync(draft)
            try folder.rename(draft, to: name, in: target)
            try target.syncFolder()
        } catch {
            try? folder.remove(draft)
            throw error
        }
    }
}
