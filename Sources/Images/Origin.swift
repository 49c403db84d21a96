/// A place that bytes come from: a web server, or a file such as one on a mounted stick.
package enum Origin: Sendable, Hashable {
    case web(WebAddress)
    case file(String)
}

extension Origin: CustomStringConvertible {
    /// Shows no secret.
    package var description: String {
        switch self {
        case .web(let address): address.description
        case .file(let path): path
        }
    }
}
