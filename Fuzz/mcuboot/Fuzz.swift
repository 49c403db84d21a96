import Images
import Protocols

/// Reads any bytes as an image, and as a package of images.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let image = try? MCUbootImage(bytes) {
        precondition(image.end <= bytes.count)
        precondition(image.hashedRange.upperBound <= image.end)
    }
    _ = try? MCUbootFile(bytes)
    _ = try? InspectedImage(bytes)
    _ = try? NCSPackage(zip: bytes)
    return 0
}
