/// A source of bytes: a web server, or a file, for example on a mounted stick.
package enum Origin: Sendable, Hashable {
    case web(WebAddress)
    case file(String)
}

extension Origin: CustomStringConvertible {
    /// Contains no secret.
    package var description: String {
        switch self {
        case .web(let address): address.description
        case .file(let path): path
        }
    }
}
