import Synchronization

/// A piece of a file that is passed from the loop's thread to the store's.
final class Chunk: Sendable {
    static let capacity = 256 << 10

    private let shelf: ChunkShelf?
    // One thread fills both before the chunk is passed to another thread, and none does after that.
    private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer
    // As above.
    nonisolated(unsafe) private(set) var count = 0

    /// Takes the memory of a chunk from the shelf, if the shelf has one.
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

    /// Takes as many bytes as fit; returns their number.
    func fill(from bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, Chunk.capacity - count)
        guard taken > 0 else { return 0 }
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        count += taken
        return taken
    }

    /// Lets `read` fill an empty chunk; it returns the number of bytes, or an error number.
    func fill(by read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let result = read(buffer)
        count = max(0, result)
        return result
    }
}

/// The memory of used chunks, for new ones.
///
/// New memory costs the kernel more than copying into memory that exists.
final class ChunkShelf: Sendable {
    private static let size = 16

    // No other code knows this memory.
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
