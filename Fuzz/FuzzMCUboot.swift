import Families
import Images

/// Reads any bytes as an image, and as a package of images.
func fuzzMCUboot(_ bytes: [UInt8]) {
    if let image = try? MCUbootImage(bytes) {
        precondition(image.end <= bytes.count)
        precondition(image.hashedRange.upperBound <= image.end)
    }
    _ = try? MCUbootFile(bytes)
    _ = try? InspectedImage(bytes)
    _ = try? NCSPackage(zip: bytes)
}
