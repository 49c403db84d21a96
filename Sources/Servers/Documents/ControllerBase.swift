package import Base

/// What a server offers to one controller when it is polled.
package struct ControllerBase: Sendable, Equatable {
    /// After which time the server expects the next poll; nil where it does not say.
    package let interval: Duration?
    package let wantsAttributes: Bool
    package let deployment: ActionID?
    package let cancel: ActionID?
    /// An action that begins only after somebody has confirmed it.
    package let confirmation: ActionID?

    /// Whether no action is open at the server.
    package var isIdle: Bool { deployment == nil && cancel == nil && confirmation == nil }

    /// Reads the answer of a server.
    ///
    /// Its links are never followed: they only say what there is. Their host must be the server's.
    package init(_ bytes: [UInt8], of server: WebAuthority) throws(DocumentFault) {
        let json = try JSONValue.document(bytes)
        guard case .object = json else { throw .wrong("_links") }
        let sleep = try json["config"]?["polling"]?.text("sleep")
        interval = sleep.flatMap(Self.interval)
        if sleep != nil, interval == nil { throw .wrong("sleep") }
        let links = json["_links"]
        func link(_ name: String) throws(DocumentFault) -> Substring? {
            guard let link = links?[name] else { return nil }
            guard let address = link["href"]?.string, address.utf8.count <= 2_048 else {
                throw .wrong(name)
            }
            return try Self.tail(of: address, name, at: server)
        }
        func action(_ name: String) throws(DocumentFault) -> ActionID? {
            guard let tail = try link(name) else { return nil }
            guard let action = ActionID(tail) else { throw .strayLink(name) }
            return action
        }
        wantsAttributes = try link("configData") != nil
        deployment = try action("deploymentBase")
        cancel = try action("cancelAction")
        // The link to an action that waits is beside one to the settings for all of them.
        confirmation = try link("confirmationBase").flatMap { ActionID($0) }
    }

    /// What follows a link's own name in its path; empty for none.
    private static func tail(
        of address: String,
        _ name: String,
        at server: WebAuthority
    ) throws(DocumentFault) -> Substring {
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            let authority = try? WebAuthority(parts[2]), authority.isSame(as: server)
        else { throw .strayLink(name) }
        let path = parts[3].prefix { $0 != "?" && $0 != "#" }.split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        guard let own = path.lastIndex(of: name[...]), path.count - own <= 2 else {
            throw .strayLink(name)
        }
        return own + 1 < path.count ? path[own + 1] : ""
    }

    /// Reads `HH:MM:SS`; nil for anything else.
    private static func interval(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ (1...4).contains($0.utf8.count) }),
            let hours = UInt16(parts[0]), let minutes = UInt16(parts[1]), minutes < 60,
            let seconds = UInt16(parts[2]), seconds < 60
        else { return nil }
        return .seconds((Int(hours) * 60 + Int(minutes)) * 60 + Int(seconds))
    }
}

extension WebAuthority {
    /// Whether it is the same host, whatever the port: behind a proxy a server may not know its own.
    package func isSame(as other: WebAuthority) -> Bool {
        host.lowercased() == other.host.lowercased()
    }
}

/// A server's wish that the work on an action ends.
package struct CancelOrder: Sendable, Equatable {
    /// The action that is to be ended.
    package let stops: ActionID

    package init(_ bytes: [UInt8]) throws(DocumentFault) {
        let order = try JSONValue.document(bytes)["cancelAction"]
        guard let stops = try order?.text("stopId").flatMap({ ActionID($0) }) else {
            throw .wrong("stopId")
        }
        self.stops = stops
    }
}
