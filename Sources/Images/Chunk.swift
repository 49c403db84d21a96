import Synchronization

/// A piece of a file on its way from the loop's thread to the store's.
final class Chunk: Sendable {
    static let capacity = 256 << 10

    private let shelf: ChunkShelf?
    // Both are filled by one thread before the chunk is sent to another, and never after.
    private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer
    // As above.
    nonisolated(unsafe) private(set) var count = 0

    /// One from the shelf, if there is a shelf and one on it.
    init(from shelf: ChunkShelf? = nil) {
        self.shelf = shelf
        buffer =
            shelf?.take()
            ?? UnsafeMutableRawBufferPointer.allocate(byteCount: Chunk.capacity, alignment: 64)
    }

    deinit {
        guard let shelf else { return buffer.deallocate() }
        shelf.putBack(buffer)
    }

    var isFull: Bool { count == Chunk.capacity }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Takes as many bytes as there is room for and tells how many.
    func fill(from bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, Chunk.capacity - count)
        guard taken > 0 else { return 0 }
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        count += taken
        return taken
    }

    /// Lets `read` put bytes into an empty chunk; it tells how many, or that there was an error.
    func fill(by read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let result = read(buffer)
        count = max(0, result)
        return result
    }
}

/// Memory of chunks that were done with, for the next ones.
///
/// Memory that is new each time costs the kernel more than copying into it.
final class ChunkShelf: Sendable {
    private static let size = 16

    // Nobody else knows of the memory that is here.
    private struct Buffers: @unchecked Sendable {
        var free: [UnsafeMutableRawBufferPointer] = []
    }

    private let buffers = Mutex(Buffers())

    deinit { buffers.withLock { buffers in for buffer in buffers.free { buffer.deallocate() } } }

    fileprivate func take() -> UnsafeMutableRawBufferPointer? {
        buffers.withLock { $0.free.popLast() }
    }

    fileprivate func putBack(_ buffer: UnsafeMutableRawBufferPointer) {
        let isKept = buffers.withLock { buffers in
            guard buffers.free.count < Self.size else { return false }
            buffers.free.append(buffer)
            return true
        }
        if !isKept { buffer.deallocate() }
    }
}
