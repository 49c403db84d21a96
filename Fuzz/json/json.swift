import Wire

/// Any bytes are read or refused; what is read is written so that it reads back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let value = try? JSONValue(json: bytes) else { return 0 }
    let written = value.bytes
    guard let again = try? JSONValue(json: written), again.bytes == written else {
        fatalError("what was written does not read back the same")
    }
    return 0
}
