import Images
import Manifest

/// Whether the store has an image, and whether the manifest accepts it.
enum ImagePresence: Sendable, Equatable {
    case usable
    /// Not there, or with other bytes under its name.
    case absent
    /// There, but not as the manifest demands.
    case unfit(String)
    /// Denied by the manifest's own lists, wherever it is.
    case refused(String)

    /// Reads all of it: the name alone proves nothing.
    init(of image: PlannedImage, under trust: TrustPolicy, in store: StoreFolder) {
        let lists = ReleaseLists(allowed: Set(trust.allowed), denied: Set(trust.denied))
        do throws(PolicyRefusal) {
            try lists.check(image.digest)
        } catch {
            self = .refused(error.description)
            return
        }
        guard
            let request = ImageRequest(name: image.name, digest: image.digest, size: image.size)
        else {
            self = .unfit("it is larger than any image may be")
            return
        }
        do throws(ImageError) {
            self = try store.image(request) == nil ? .absent : .usable
        } catch { self = .unfit(error.description) }
    }

    /// The words of `plan`.
    var words: String {
        switch self {
        case .usable: "in the store"
        case .absent: "not in the store, to be fetched"
        case .unfit(let why): "in the store, but the manifest would not take it: \(why)"
        case .refused(let why): "not to be used: \(why)"
        }
    }
}
