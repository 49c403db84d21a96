import Base
import Commands
import Images
import Manifest
import Radio

/// The image file of `update`, which has passed every check that needs no module.
struct UpdateFile: Sendable {
    let image: NamedImage
    let content: ImageContent

    /// `promised` is the version of a file that does not contain its own.
    init(_ file: String, version promised: FirmwareVersion?) throws(CommandError) {
        let path = AbsolutePath.of(file)
        let bytes: [UInt8]
        do throws(ImageError) {
            bytes = try InspectedImage.read(path)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "give the path of an image or of a package of images"
            )
        }
        do throws(InspectionError) {
            content = try InspectedImage(bytes).content()
        } catch {
            throw CommandError(
                .trust,
                "\(file) cannot be sent to a module",
                because: [(error.place.map { "\($0): " } ?? "") + error.description],
                hint: "get the file again from its maker; 'yardmaster image inspect' reads it"
            )
        }
        guard !content.isConfirmed else {
            throw CommandError(
                .trust,
                "\(file) is already confirmed, so it would run permanently without a trial",
                hint: "sign it without --confirm, or write `confirmed: allow` in a manifest"
            )
        }
        guard let version = content.version ?? promised else {
            throw CommandError(
                .usage,
                "\(file) does not contain its version, by which a module proves the update",
                hint: "give it with --version, as modules report it"
            )
        }
        guard promised == nil || promised == version else {
            throw CommandError(
                .usage,
                "\(file) holds version \(version)",
                hint: "leave out --version: it is for files that do not contain theirs"
            )
        }
        image = NamedImage(
            path: path,
            digest: SHA256.digest(of: bytes),
            size: ByteCount(of: bytes),
            version: version,
            part: content.uses.contains(.application) || !content.uses.contains(.bootloader)
                ? .secondary : .bootloader
        )
    }

    /// Why it must not be sent to modules of this profile; nil when it may be sent.
    func mismatch(with profile: Profile) -> String? {
        content.mismatch(with: image.part, of: profile)
    }
}
