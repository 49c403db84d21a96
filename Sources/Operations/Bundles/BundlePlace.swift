import Base
import Commands
import Glibc
import Images

/// The folder in which a depot keeps the bundles of a rollout that it took over.
///
/// Each bundle has a folder of its own. A link with the rollout's name points to the latest one and
/// is changed in one step.
struct BundlePlace {
    let link: String
    let folder: String
    private let target: String
    private let name: String

    init(_ target: String, of rollout: String, _ bundle: BundleFile) throws(CommandError) {
        guard BundlePath(rollout)?.parts == [rollout], rollout.first != "." else {
            throw CommandError(
                .manifest,
                "'\(rollout.visible)' is not usable as the name of a folder"
            )
        }
        self.target = target
        link = "\(target)/\(rollout)"
        name = "\(rollout)-\(bundle.index.digest.description.prefix(16))"
        folder = "\(target)/\(name)"
        do throws(FileFault) {
            if try Self.isMissing(target) { try FilePlace(target).makeFolder(mode: 0o755) }
        } catch { throw failure(target, error.code) }
        let facts = (try? FilePlace(link).facts()) ?? nil
        guard facts.map({ $0.kind == .link }) ?? true else {
            // Only the bundles of this rollout cannot be taken over.
            throw failure(link, EEXIST, .trust)
        }
    }

    /// The depot's own files in the latest bundle's folder, which no bundle contains.
    func carried(for contents: BundlePlan) -> [FolderDelivery.File] {
        let brought = contents.files.map(\.path)
        return contents.plan.filesOfTheDepot.compactMap { text in
            guard let path = BundlePath(text)?.parts, !brought.contains(path),
                let bytes = try? TrustFolder.contents(
                    of: "\(link)/\(path.joined(separator: "/"))",
                    limit: 1 << 20
                )
            else { return nil }
            return FolderDelivery.File(path: path, bytes: bytes, mode: 0o600)
        }
    }

    /// Makes the folder the current one of the rollout.
    func settle() throws(CommandError) {
        let fresh = ".\(name)-\(UInt64.random(in: .min ... .max))"
        do throws(FileFault) {
            let place = try FilePlace(link)
            try place.folder.makeLink(fresh, to: name)
            do throws(FileFault) { try place.folder.rename(fresh, to: place.name) } catch {
                try? place.folder.remove(fresh)
                throw error
            }
            try? place.folder.sync()
        } catch { throw failure(link, error.code) }
    }

    private static func isMissing(_ folder: String) throws(FileFault) -> Bool {
        do throws(FileFault) {
            _ = try Folder.open(folder)
            return false
        } catch {
            guard error.code == ENOENT else { throw error }
            return true
        }
    }

    private func failure(
        _ path: String,
        _ code: CInt,
        _ kind: CommandError.Kind = .cannotCreate
    ) -> CommandError {
        CommandError(
            kind,
            "the bundle cannot be taken over into '\(target.visible)'",
            because: ["\(path.visible): \(Descriptor.text(of: code))"],
            hint: "name a folder that this user may write and that has only bundles in it"
        )
    }
}
