import Base

/// Reads how images are downloaded.
struct FetchReader {
    let diagnostics: Diagnostics
    let directory: String

    func policy(_ node: SourceNode?, at place: Place) -> FetchPolicy {
        var reader = TableReader(
            node ?? SourceNode(.map([]), at: place),
            Grammar.fetch,
            diagnostics
        )
        let connections = reader.defaultedInteger("connections")
        let attempts = reader.defaultedInteger("attempts")
        let leastRate = reader.defaultedSize("least-rate")
        let leastRateOver = reader.defaultedDuration("least-rate-over")
        let authorities = file("ca", &reader)
        let certificate = file("certificate", &reader)
        let key = file("key", &reader)
        let proxy = reader.value("proxy").flatMap(readProxy)
        let hosts = reader.list("no-proxy", of: "hosts")?.compactMap { readHost($0) } ?? []
        let storeLimit = reader.size("store")
        reader.finish()
        return FetchPolicy(
            connections: connections,
            attempts: attempts,
            leastRate: leastRate,
            leastRateOver: leastRateOver,
            authorities: authorities,
            certificate: certificate,
            key: key,
            proxy: proxy,
            withoutProxy: hosts,
            storeLimit: storeLimit
        )
    }

    private func file(_ key: String, _ reader: inout TableReader) -> FileReference? {
        reader.text(key).map { FileReference($0, relativeTo: directory) }
    }

    private func readProxy(_ node: SourceNode) -> String? {
        let source = ImageReader(diagnostics: diagnostics, directory: directory)
            .readSource(node, allowsHTTP: true)
        switch source {
        case nil: return nil
        case .https(let url), .http(let url): return url
        case .file:
            diagnostics.error(
                node.place,
                "a file is no proxy",
                hint: "write `http://HOST:PORT` or `https://HOST:PORT`"
            )
            return nil
        }
    }

    private func readHost(_ node: SourceNode) -> String? {
        guard let host = Form.label.read(node, diagnostics) else { return nil }
        let isHost = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x2F, 0x3A, 0x5B, 0x5D:
                true
            default: false
            }
        }
        if isHost { return host }
        diagnostics.error(
            node.place,
            "\(quoted(host)) is not a host",
            hint: "write a name, an address or a domain such as .example.org"
        )
        return nil
    }
}
