import Base
import Images
import Radio

/// Firmware that was read, and checked as far as this is possible without a module.
///
/// ```swift
/// let image = try FirmwareImage(path: "city-4.12.0.zip")
/// ```
public struct FirmwareImage: Sendable {
    typealias Source = @Sendable () async throws -> FirmwareImage

    /// The file's name without its folders, or the name that was given.
    public let name: String
    /// The part that it replaces: `secondary` is the module itself, also where its profile says `image`;
    /// no slot of MCUboot is meant.
    public let part: String
    /// The digest of the file, in hex.
    public let sha256: String
    /// The number of bytes to send.
    public let size: Int
    let content: ImageContent
    let digest: SHA256Digest
    let target: FirmwareVersion
    let place: ModulePart

    /// The version that a module reports when it runs this image.
    public var version: String { target.description }

    /// Reads a Secure DFU or legacy DFU package, an MCUboot image or package, or an ESP image.
    ///
    /// `version` is required for files that do not contain one, and must match the version in the
    /// others. With `sha256`, any other file is rejected.
    public init(
        path: String,
        version: String? = nil,
        part: String = "secondary",
        sha256: String? = nil
    ) throws(ModuleFailure) {
        let bytes: [UInt8]
        do throws(ImageError) { bytes = try InspectedImage.read(path) } catch {
            throw ModuleFailure(.invalidFile, error.description, "name an image file")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        try self.init(bytes: bytes, name: name, version: version, part: part, sha256: sha256)
    }

    /// The image with this digest in the store of a state directory of Yardmaster, where `fetch` and
    /// `run` keep it.
    public init(
        sha256: String,
        store directory: String,
        version: String? = nil,
        part: String = "secondary"
    ) throws(ModuleFailure) {
        guard let digest = SHA256Digest(sha256),
            let request = ImageRequest(name: digest.description, digest: digest, size: nil)
        else {
            throw ModuleFailure(
                .invalidValue,
                "`\(sha256.visible.prefix(64))` is no digest",
                "give the 64 hex digits of a SHA-256"
            )
        }
        let bytes: [UInt8]?
        do throws(ImageError) {
            bytes = try StoreFolder(stateDirectory: directory).image(request)?.bytes()
        } catch { throw ModuleFailure(.invalidFile, error.description, "fetch the image again") }
        guard let bytes else {
            throw ModuleFailure(
                .invalidFile,
                "the store in \(directory.visible) does not have the image \(digest)",
                "fetch it, or name another state directory"
            )
        }
        try self.init(
            bytes: bytes,
            name: digest.description,
            version: version,
            part: part,
            sha256: sha256
        )
    }

    /// The same from memory; `name` is for people.
    public init(
        bytes: [UInt8],
        name: String = "image",
        version: String? = nil,
        part: String = "secondary",
        sha256: String? = nil
    ) throws(ModuleFailure) {
        guard let place = ModulePart(rawValue: part) else {
            throw ModuleFailure(
                .invalidValue,
                "a module has no part `\(part.visible.prefix(64))`",
                "name one of " + ModulePart.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        let digest = SHA256.digest(of: bytes)
        guard sha256.map({ SHA256Digest($0) == digest }) ?? true else {
            throw ModuleFailure(
                .invalidImage,
                "the file has the digest \(digest), not the one that was given",
                "get the file again from its maker"
            )
        }
        let content: ImageContent
        do throws(InspectionError) {
            content = try InspectedImage(bytes).content()
        } catch {
            let sentence = (error.place.map { "\($0): " } ?? "") + error.description
            throw ModuleFailure(.invalidImage, sentence, "get the file again from its maker")
        }
        target = try Self.version(version, of: content)
        self.digest = digest
        self.content = content
        self.place = place
        self.part = part
        self.sha256 = digest.description
        self.name = name
        size = content.parts.reduce(0) { $0 + $1.size }
    }

    private static func version(
        _ text: String?,
        of content: ImageContent
    ) throws(ModuleFailure) -> FirmwareVersion {
        guard let text else {
            if let version = content.version { return version }
            throw ModuleFailure(
                .invalidImage,
                "the file does not say which version it holds",
                "give the version that a module reports when it runs it"
            )
        }
        guard let version = FirmwareVersion(text) else {
            throw ModuleFailure(
                .invalidValue,
                "`\(text.visible.prefix(64))` is no version",
                "give two to four numbers, such as 4.12.0"
            )
        }
        if let held = content.version, held != version {
            throw ModuleFailure(
                .invalidImage,
                "the file holds version \(held), not \(version)",
                "give the version that it holds, or another file"
            )
        }
        return version
    }
}
