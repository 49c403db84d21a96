import Commands
import Domain
import Glibc
import Trust

/// Where a depot keeps the bundles of a rollout that it took over.
///
/// Each has a folder of its own; a link by the rollout's name leads to the latest, and is changed in one step.
struct BundlePlace {
    let link: String
    let folder: String
    private let target: String
    private let name: String

    init(_ target: String, of rollout: String, _ bundle: BundleFile) throws(CommandError) {
        guard BundlePath(rollout)?.parts == [rollout], rollout.first != "." else {
            throw CommandError(.manifest, "'\(rollout.visible)' is no name for a folder")
        }
        self.target = target
        link = "\(target)/\(rollout)"
        name = "\(rollout)-\(bundle.index.digest.description.prefix(16))"
        folder = "\(target)/\(name)"
        guard mkdir(target, 0o755) == 0 || errno == EEXIST else { throw failure(target, errno) }
        var status = stat()
        guard lstat(link, &status) != 0 || status.st_mode & S_IFMT == S_IFLNK else {
            throw failure(link, EEXIST)
        }
    }

    /// Files of the depot that the latest bundle's folder has and no bundle brings.
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

    /// Makes the folder the rollout's.
    func settle() throws(CommandError) {
        let fresh = "\(target)/.\(name)-\(UInt64.random(in: .min ... .max))"
        guard symlink(name, fresh) == 0 else { throw failure(link, errno) }
        guard rename(fresh, link) == 0 else {
            let code = errno
            unlink(fresh)
            throw failure(link, code)
        }
        let parent = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        fsync(parent)
        close(parent)
    }

    private func failure(_ path: String, _ code: CInt) -> CommandError {
        CommandError(
            .cannotCreate,
            "the bundle cannot be taken over into '\(target.visible)'",
            because: ["\(path.visible): \(Descriptor.text(of: code))"],
            hint: "name a folder that this user may write, for bundles alone"
        )
    }
}
