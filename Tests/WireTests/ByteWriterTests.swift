import Base
import Testing

@Suite struct ByteWriterTests {
    /// Also when it has to grow.
    @Test(arguments: [0, 16, 17, 64])
    func `what is written is read back in order`(capacity: Int) throws {
        var writer = ByteWriter(capacity: capacity)
        writer.append(0x7F)
        writer.append(little: 0x0102 as UInt16)
        writer.append(contentsOf: [])
        writer.append(contentsOf: Array(0..<40))
        writer.append(little: 0x0102_0304_0506_0708 as UInt64)
        writer.append(little: UInt32.max)
        #expect(
            writer.bytes
                == [0x7F, 2, 1] + Array(0..<40) + [8, 7, 6, 5, 4, 3, 2, 1, 255, 255, 255, 255]
        )
        var reader = ByteReader(writer.bytes)
        #expect(try reader.byte() == 0x7F)
        #expect(try reader.little(UInt16.self) == 0x0102)
        #expect(try reader.bytes(40) == Array(0..<40))
        #expect(try reader.little(UInt64.self) == 0x0102_0304_0506_0708)
        #expect(try reader.little(UInt32.self) == .max)
        #expect(reader.isAtEnd)
    }
}
