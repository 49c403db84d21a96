/// Writes numbers and byte strings one after another, the least significant byte of a number first.
///
/// It checks its room once for each number; an array checks its own for each byte that is appended.
@usableFromInline package struct ByteWriter {
    @usableFromInline var room: [UInt8]
    @usableFromInline var count = 0

    /// `capacity` is the expected number of bytes; it grows when there are more.
    package init(capacity: Int) { room = [UInt8](repeating: 0, count: max(16, capacity)) }

    @inlinable package mutating func append<Number: FixedWidthInteger & UnsignedInteger>(
        little number: Number
    ) {
        let size = MemoryLayout<Number>.size
        makeRoom(for: size)
        // Safe: there is room for the number within the array.
        unsafe room.withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
        }
        count += size
    }

    @inlinable package mutating func append(_ byte: UInt8) { append(little: byte) }

    package mutating func append(contentsOf bytes: [UInt8]) {
        makeRoom(for: bytes.count)
        // Safe: there is room for all of them, and the arrays do not overlap.
        unsafe room.withUnsafeMutableBytes { room in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(
                    from: bytes
                )
            }
        }
        count += bytes.count
    }

    /// All bytes that were written.
    package var bytes: [UInt8] { Array(room[..<count]) }

    @inlinable mutating func makeRoom(for size: Int) {
        if room.count - count < size { grow(by: size) }
    }

    @usableFromInline mutating func grow(by size: Int) {
        room.append(contentsOf: repeatElement(0, count: room.count + size))
    }
}
