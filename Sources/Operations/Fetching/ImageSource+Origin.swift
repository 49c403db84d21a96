import Base
import Images
import Manifest

extension ImageSource {
    /// The same source in the form of the room `Images`.
    var origin: Origin? {
        switch self {
        case .https(let url): WebAddress(url).map { .web($0) }
        case .http(let url): WebAddress(url, allowsHTTP: true).map { .web($0) }
        case .file(let reference): .file(reference.path)
        }
    }
}
