import Base

/// An `https:` address, or an `http:` one where that is allowed.
///
/// It may contain a name, a password or a token: only `text` contains them, the description does
/// not.
package struct WebAddress: Sendable, Hashable {
    enum Scheme: String, Sendable {
        case https, http
    }

    let scheme: Scheme
    /// The text for the library: may contain secrets.
    let text: String

    /// Nil for another scheme, for `http:` unless it is allowed, without a host, with an invalid
    /// port, with more than 2,048 bytes, and with characters other than printable ASCII.
    package init?(_ text: String, allowsHTTP: Bool = false) {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        if text.hasPrefix("https://") {
            scheme = .https
        } else if allowsHTTP, text.hasPrefix("http://") {
            scheme = .http
        } else {
            return nil
        }
        self.text = text
        guard (try? WebAuthority(host)) != nil else { return nil }
    }

    /// The same address with one of our paths at its end.
    package func adding(_ path: String) -> WebAddress? {
        guard !path.isEmpty else { return self }
        let base = text.hasSuffix("/") ? String(text.dropLast()) : text
        return WebAddress(base + path, allowsHTTP: scheme == .http)
    }

    /// A document below this address, which should end in `/`.
    ///
    /// All characters except unreserved ones (RFC 3986, section 2.3) and the slashes between the
    /// parts are percent-encoded: the name is data and selects only the document.
    package func appending(_ path: [UInt8]) -> WebAddress? {
        WebAddress(text + Self.encoded(path, keeping: [0x2F]), allowsHTTP: scheme == .http)
    }

    private static func encoded(_ bytes: [UInt8], keeping kept: [UInt8]) -> String {
        var text: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: text.append(byte)
            case _ where kept.contains(byte): text.append(byte)
            default: text += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Host and port, without a name and password before them.
    package var host: String {
        let authority = text.dropFirst(scheme.rawValue.utf8.count + 3)
            .prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return String(authority) }
        return String(authority[authority.index(after: at)...])
    }
}

extension WebAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Scheme, host and path; a query is shown as present, without its content.
    package var description: String {
        let rest = text.dropFirst(scheme.rawValue.utf8.count + 3)
            .drop { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        let hidden = rest.dropFirst(path.count).hasPrefix("?") ? "?…" : ""
        return "\(scheme.rawValue)://\(host)\(path)\(hidden)"
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
