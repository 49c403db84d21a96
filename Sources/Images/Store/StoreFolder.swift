package import Base
import Glibc

/// The paths of the store in the state directory, and access to them.
///
/// `images/sha256/ab/<hex>` is a verified image, `<hex>.part` one in the making, `<hex>.note` the
/// known origin of a part, `images/references/NAME` the images that a rollout needs,
/// `images/origins` the facts about each image for people.
package struct StoreFolder: Sendable {
    let root: String
    let files: any FileLayer

    package init(stateDirectory: String, files: any FileLayer = SystemFiles()) {
        root = stateDirectory + "/images"
        self.files = files
    }

    func folder(of digest: SHA256Digest) -> String {
        "\(root)/sha256/\(digest.description.prefix(2))"
    }

    package func path(of digest: SHA256Digest) -> String {
        let name = digest.description
        return "\(root)/sha256/\(name.prefix(2))/\(name)"
    }

    func partPath(of digest: SHA256Digest) -> String { path(of: digest) + ".part" }

    func notePath(of digest: SHA256Digest) -> String { path(of: digest) + ".note" }

    var references: String { root + "/references" }

    /// Creates the folders down to the one of `digest`.
    func prepare(for digest: SHA256Digest) throws(ImageError) {
        let folder = folder(of: digest)
        do throws(FileFault) { try files.makeFolder(folder) } catch {
            guard error.code == ENOENT else { throw .writing(folder, error.code) }
            try make([root, root + "/sha256", folder])
        }
    }

    func make(_ folders: [String]) throws(ImageError) {
        for folder in folders {
            do throws(FileFault) { try files.makeFolder(folder) } catch {
                throw .writing(folder, error.code)
            }
        }
    }
}
