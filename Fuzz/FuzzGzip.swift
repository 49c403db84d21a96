import Base
import Images

/// Any bytes unpack to exactly the promised number of bytes, or fail; nothing traps.
func fuzzGzip(_ bytes: [UInt8]) {
    // The size that the file declares, limited to what a trusted document would allow.
    let told = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    for size in [0, 1, 36, min(told, 1 << 20)] {
        guard let size = ByteCount(bytes: size) else { continue }
        if let contents = try? Gzip.unpack(bytes, size: size) {
            precondition(contents.count == size.bytes)
        }
    }
}
