package import Domain
import Glibc

/// Where in the state directory things of the store are, and the way to them.
///
/// `images/sha256/ab/<hex>` is a verified image, `<hex>.part` one in the making, `<hex>.note` what
/// was known of its origin, `images/references/NAME` says what a rollout needs, `images/origins` is
/// what people are told of each image.
package struct StoreFolder: Sendable {
    package let root: String
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

    /// Makes the folders down to the one of `digest`.
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
