/// A piece of a file on its way from the loop's thread to the store's.
final class Chunk: Sendable {
    static let capacity = 256 << 10

    // Both are filled by one thread before the chunk is sent to another, and never after.
    private nonisolated(unsafe) let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Chunk.capacity,
        alignment: 64
    )
    // As above.
    nonisolated(unsafe) private(set) var count = 0

    deinit { buffer.deallocate() }

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
