import Commands
import Domain
import Glibc
import Manifest
import Marked
import Reports
import Trust
import Wire

/// `bundle show`: the parts of a bundle.
struct BundleShow {
    static func run(_ invocation: Invocation, _ context: Context) throws(CommandError) -> ExitCode {
        try print(BundleFile(invocation.arguments[0]), CommonOptions(invocation), context)
        return .done
    }

    static func print(
        _ bundle: BundleFile,
        _ common: CommonOptions,
        _ context: Context
    ) throws(CommandError) {
        if common.wantsJSON {
            let members = bundle.index.members.map { member in
                JSONValue.object([
                    "name": .string(member.name),
                    "size": .integer(member.size),
                    "sha256": .string(member.digest.description),
                ])
            }
            let document = JSONValue.object([
                "schema": 1,
                "created": .string(bundle.index.created.description),
                "members": .array(members),
                "exit": .object([
                    "code": .integer(Int64(ExitCode.done.rawValue)),
                    "reason": .string(ExitCode.done.sentence),
                ]),
            ])
            context.console.result(document.text + "\n")
            return
        }
        let rows = bundle.index.members.map { member in
            [
                member.name, ByteCount(bytes: Int(member.size))?.description ?? "",
                member.digest.description,
            ]
        }
        let lines =
            ["bundle made \(bundle.index.created)"]
            + Columns.table([["part", "size", "sha256"]] + rows)
        context.console.result(lines.joined(separator: "\n") + "\n")
    }
}

/// The manifest in a bundle, read with the files that are in it.
enum BundleManifest {
    static func plan(
        _ bundle: BundleFile,
        _ context: Context
    ) throws(CommandError) -> FrozenPlan {
        let names = bundle.names(below: "manifest")
        guard names.count == 1, let name = names.first else {
            throw BundleFile.refusal(bundle.path, .noMember("manifest"))
        }
        let path = String(name.dropFirst("manifest/".count))
        let manifest: [UInt8]
        do throws(BundleFault) {
            manifest = try bundle.bytes(of: name)
        } catch { throw BundleFile.refusal(bundle.path, error) }
        do throws(ManifestError) {
            let (plan, diagnostics) = try ManifestReader.read(manifest, path: path) {
                (file, limit) throws(FileError) in
                do throws(BundleFault) {
                    let bytes = try bundle.bytes(of: "files/\(file)")
                    guard bytes.count <= limit else { throw BundleFault.tooLarge(file) }
                    return bytes
                } catch {
                    throw FileError(path: file, reason: .missing)
                }
            }
            guard let plan else {
                Inputs.tell(diagnostics, context)
                throw .unreadable(path: path, reason: .missing, namedAt: nil)
            }
            return plan
        } catch {
            throw CommandError(
                .manifest,
                "the manifest in the bundle '\(bundle.path.visible)' is not valid",
                because: [error.description]
            )
        }
    }

    /// Writes a file, and the folders above it, below a folder of the caller's choice.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        below target: String
    ) throws(BundleFault) {
        var folder = target
        mkdir(folder, 0o755)
        for part in path.dropFirst(target.count).split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o755)
        }
        // Never through a link, never over a file that is there.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw .badName(path) }
        defer { close(descriptor) }
        guard Descriptor.write(bytes, to: descriptor) == nil, fsync(descriptor) == 0 else {
            throw .badName(path)
        }
    }
}
