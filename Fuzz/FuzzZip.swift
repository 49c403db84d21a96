import Images

/// Any bytes are an archive or an error; the files of an archive unpack or fail, and nothing traps.
func fuzzZip(_ bytes: [UInt8]) {
    if let archive = try? ZipArchive(bytes) {
        for name in archive.names { _ = try? archive.contents(of: name) }
    }
    _ = try? DFUPackage(zip: bytes)
}
