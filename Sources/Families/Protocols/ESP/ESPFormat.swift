import Base
import Radio

extension RawImageFormat {
    /// An application image that `esptool` made.
    static let espImage = RawImageFormat("esp", isOne: { ESPImage.isOne($0) }) {
        (bytes) throws(RawImageError) in
        let image: ESPImage
        do throws(ESPImageError) { image = try ESPImage(bytes) } catch {
            throw RawImageError(error.description)
        }
        if let digest = image.digest, SHA256.digest(of: Array(bytes[..<image.length])) != digest {
            throw RawImageError("the image is damaged: its SHA-256 is not that of its content")
        }
        let chip = ESPImage.name(ofChip: image.chip)
        let content = ImageContent(
            protocol: .espOTA,
            title: "an image of an ESP device",
            uses: [.application],
            version: FirmwareVersion(image.version),
            chip: chip,
            parts: [FirmwarePart(firmware: bytes)]
        )
        return RawImage(
            content: content,
            facts: [
                .init("version", image.version), .init("project", image.project),
                .init("chip", chip), .init("secure version", "\(image.secureVersion)"),
                .init("size", "\(bytes.count) bytes"),
            ],
            warnings: image.digest == nil
                ? ["it has no digest of its own; only a checksum of one byte guards it"] : []
        )
    }
}
