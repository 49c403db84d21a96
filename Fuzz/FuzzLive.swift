import Domain
import Operations

/// Any address is taken apart or refused; what is taken apart can be written again, and is the same.
func fuzzLive(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let target = try? LiveTarget(text) {
        precondition(!target.words.contains(where: { ["", ".", ".."].contains($0) }))
        let path = "/" + target.words.map(LiveTarget.escaped).joined(separator: "/")
        let query = target.query.sorted { $0.key < $1.key }.map {
            LiveTarget.escaped($0.key) + "=" + LiveTarget.escaped($0.value)
        }.joined(separator: "&")
        let written = path + (query.isEmpty ? "" : "?" + query)
        // Three bytes for one may be too long.
        if written.utf8.count <= LiveTarget.limit {
            precondition((try? LiveTarget(written)) == target, written)
        }
    }
    if case .page(.vehicles(let filter))? = try? LiveRoute(text) { precondition(filter.page > 0) }
    let host = LiveHost(names: ["depot.example"])
    if host.takes(text) {
        precondition(
            ["localhost", "127.0.0.1", "[::1]", "depot.example"].contains {
                text.lowercased().hasPrefix($0)
            }
        )
    }
}
