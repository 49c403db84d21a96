package import Base
import Glibc

/// Whether missing images fit into the store, as far as their sizes are known.
package struct StoreBudget: Sendable, Equatable {
    /// The number of missing images, and the bytes that they still need.
    package let missing: Int
    package let needed: ByteCount
    /// The number of images of unknown size.
    package let unsized: Int
    /// The current size of the store, including parts.
    package let held: ByteCount
    /// The free space of the disk for us.
    let free: ByteCount

    /// Reads only the names and sizes of the files in the store.
    package init(
        for requests: [(digest: SHA256Digest, size: ByteCount?)],
        in store: StoreFolder
    ) throws(ImageError) {
        let entries = try ImageInventory(store).entries()
        let whole = Set(entries.filter { !$0.isPart }.map(\.digest))
        var begun: [SHA256Digest: Int] = [:]
        for entry in entries where entry.isPart { begun[entry.digest] = entry.size.bytes }
        var sizes: [SHA256Digest: ByteCount?] = [:]
        for request in requests where !whole.contains(request.digest) {
            sizes[request.digest] = request.size
        }
        missing = sizes.count
        unsized = sizes.values.count { $0 == nil }
        var needed = 0
        for (digest, size) in sizes {
            needed += max(0, (size?.bytes ?? 0) - (begun[digest] ?? 0))
        }
        self.needed = ByteCount(count: UInt(needed))
        held = ByteCount(count: UInt(entries.reduce(0) { $0 + $1.size.bytes }))
        var disk = statvfs()
        guard statvfs(store.root, &disk) == 0 else { throw .reading(store.root, errno) }
        let (bytes, overflow) = UInt64(disk.f_bavail)
            .multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        free = ByteCount(count: overflow ? UInt(Int.max) : UInt(min(bytes, UInt64(Int.max))))
    }

    /// Why they do not fit; nil when they do, as far as that is known.
    package func complaint(limit: ByteCount?) -> String? {
        if let limit, held.bytes + needed.bytes > limit.bytes, needed > .zero {
            return "\(needed) are needed, and the store holds \(held) of at most \(limit)"
        }
        if needed > free { return "\(needed) are needed, and the disk has \(free) left" }
        return nil
    }

    /// A summary of the images to fetch and the room for them.
    package func words(limit: ByteCount?) -> String {
        let unknown = unsized == 0 ? "" : " and \(unsized) of unknown size"
        let room = limit.map { "\(held) of \($0)" } ?? "\(held)"
        return "\(counted(missing, "image")) to fetch, \(needed)\(unknown); "
            + "the store holds \(room), the disk has \(free) left"
    }
}
