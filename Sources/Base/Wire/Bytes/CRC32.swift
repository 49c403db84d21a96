/// The CRC-32 of zip, Ethernet and Secure DFU: reflected polynomial EDB88320, start and end
/// inverted.
///
/// It is incremental: feed it piece by piece and read `value` at any time, or continue from a
/// stored value. It processes eight bytes per step with eight tables, since a simulated depot runs
/// hundreds of megabytes through it.
package struct CRC32: Equatable, Sendable {
    /// The inverted register, as the algorithm updates it with each byte.
    private var register: UInt32

    package init() { register = 0xFFFF_FFFF }

    /// Continues from the value of all earlier bytes.
    package init(continuing value: UInt32) { register = ~value }

    /// The checksum of all bytes so far; 0 for no bytes.
    package var value: UInt32 { ~register }

    /// The checksum of `bytes` alone.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc = CRC32()
        crc.update(bytes)
        return crc.value
    }

    /// The checksum of `bytes` alone; faster than the generic version for sequences.
    package static func of(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32()
        crc.update(bytes.span)
        return crc.value
    }

    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

    package mutating func update(_ bytes: ArraySlice<UInt8>) { update(bytes.span) }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let whole: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            update(unsafe Span(_unsafeElements: buffer))
        }
        guard whole == nil else { return }
        for byte in bytes { step(byte) }
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        // Safe: every byte is loaded at an index below `count`; each table index is a byte plus the
        // start of one of the eight tables, which hold 2,048 words together.
        unsafe Self.tables.withUnsafeBufferPointer { tables in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                guard let table = tables.baseAddress,
                    let base = unsafe UnsafeRawPointer(bytes.baseAddress)
                else { return }
                var crc = register
                var index = 0
                let count = bytes.count
                while index &+ 8 <= count {
                    let word = unsafe UInt64(
                        littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    )
                    let low = UInt32(truncatingIfNeeded: word) ^ crc
                    let high = UInt32(truncatingIfNeeded: word &>> 32)
                    crc = unsafe table[Int(low & 0xFF) &+ 1_792]
                    crc ^= unsafe table[Int(low &>> 8 & 0xFF) &+ 1_536]
                    crc ^= unsafe table[Int(low &>> 16 & 0xFF) &+ 1_280]
                    crc ^= unsafe table[Int(low &>> 24) &+ 1_024]
                    crc ^= unsafe table[Int(high & 0xFF) &+ 768]
                    crc ^= unsafe table[Int(high &>> 8 & 0xFF) &+ 512]
                    crc ^= unsafe table[Int(high &>> 16 & 0xFF) &+ 256]
                    crc ^= unsafe table[Int(high &>> 24)]
                    index &+= 8
                }
                while index < count {
                    let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
                    crc = unsafe crc &>> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xFF)]
                    index &+= 1
                }
                register = crc
            }
        }
    }

    private mutating func step(_ byte: UInt8) {
        register = register &>> 8 ^ Self.tables[Int((register ^ UInt32(byte)) & 0xFF)]
    }

    /// Table k is at 256·k: the effect of a byte on the register when k zero bytes follow it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 2_048)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc &>> 1 ^ 0xEDB8_8320 : crc &>> 1 }
            tables[byte] = crc
        }
        for index in 256..<2_048 {
            let before = tables[index - 256]
            tables[index] = before &>> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}
