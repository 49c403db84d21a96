import Images

/// Any bytes are an archive or an error; an archive's files unpack or fail, and nothing traps.
@c(LLVMFuzzerTestOneInput)
func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let archive = try? ZipArchive(bytes) {
        for name in archive.names { _ = try? archive.contents(of: name) }
    }
    _ = try? DFUPackage(zip: bytes)
    return 0
}
