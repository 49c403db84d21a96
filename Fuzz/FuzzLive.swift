import Base
import Operations
import Show
import Site
import Store

/// Any address is parsed or refused; a parsed address can be written and parsed again, and is the
/// same.
func fuzzLive(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let target = try? LiveTarget(text) {
        precondition(!target.words.contains(where: { ["", ".", ".."].contains($0) }))
        let path = "/" + target.words.map(LiveTarget.escaped).joined(separator: "/")
        let query = target.query.sorted { $0.key < $1.key }.map {
            LiveTarget.escaped($0.key) + "=" + LiveTarget.escaped($0.value)
        }.joined(separator: "&")
        let written = path + (query.isEmpty ? "" : "?" + query)
        // An escaped byte takes three bytes, so the written address may be too long.
        if written.utf8.count <= LiveTarget.limit {
            precondition((try? LiveTarget(written)) == target, written)
        }
    }
    // A form is parsed or refused, and a parsed form can be written and parsed again.
    if let fields = try? LiveTarget.form(bytes[...]) {
        let body = fields.map { LiveTarget.escaped($0.key) + "=" + LiveTarget.escaped($0.value) }
        precondition((try? LiveTarget.form(Array(body.joined(separator: "&").utf8)[...])) == fields)
        _ = try? SteeringRequest(form: fields, author: "fuzz")
    }
    if let document = try? JSONValue(json: bytes),
        let request = try? SteeringRequest(json: document, author: "fuzz")
    {
        precondition(request.verb.takesVehicles || request.vehicles.isEmpty)
    }
    if let access = LiveAccess.read(bytes, path: "access.yaml").access {
        precondition(access.person(with: "") == nil)
    }
    fuzzHeaders(text)
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

/// A credential in a header is taken whole or not at all.
private func fuzzHeaders(_ text: String) {
    if case .token(let token) = LiveCredential(authorization: text, cookie: nil) {
        precondition(!token.isEmpty && text.hasSuffix(token))
        precondition(text.lowercased().drop { $0 == " " }.hasPrefix("bearer "))
    }
    for isEncrypted in [false, true] {
        let name = LiveCredential.cookie(isEncrypted: isEncrypted)
        let found = LiveCredential(authorization: nil, cookie: text, isEncrypted: isEncrypted)
        guard case .session(let session) = found else { continue }
        precondition(!session.contains(";") && text.contains(name + "=" + session))
        let twice = LiveCredential(
            authorization: nil,
            cookie: text + "; " + name + "=" + session,
            isEncrypted: isEncrypted
        )
        precondition(twice == .nobody)
    }
    if let key = RequestKey(text, body: []) {
        precondition(key.text == text && (1...200).contains(text.utf8.count))
    }
    let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
    if parts.count == 2, LiveOrigin.isOurs(origin: parts[0], site: nil, host: parts[1]) {
        precondition(parts[0].lowercased().hasSuffix("://" + parts[1].lowercased()))
    }
}
