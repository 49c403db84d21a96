/// The host names under which pages are served.
///
/// The page of another site can make its own name resolve to this machine, and could then read our
/// pages as if they came from that site ("DNS rebinding"). Its name is still in `Host`.
package struct LiveHost: Sendable, Equatable {
    private let names: Set<String>

    /// In addition to the names of the loopback.
    package init(names: [String]) {
        self.names = Set(["localhost", "127.0.0.1", "[::1]"] + names.map(Self.plain))
    }

    /// Whether a request with this `Host` is for us; the port does not matter.
    package func takes(_ host: String?) -> Bool {
        guard let host, !host.isEmpty else { return false }
        let name: Substring
        let port: Substring
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return false }
            name = host[...end]
            port = host[host.index(after: end)...]
        } else {
            let colon = host.firstIndex(of: ":") ?? host.endIndex
            name = host[..<colon]
            port = host[colon...]
        }
        let digits = port.dropFirst()
        guard port.isEmpty || (port.first == ":" && digits.utf8.count <= 5),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        return names.contains(Self.plain(String(name)))
    }

    /// Names are equal regardless of case and of a final dot.
    private static func plain(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
