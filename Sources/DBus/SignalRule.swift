/// Which signals somebody wants, as a match rule of the bus says it.
package struct SignalRule: Hashable, Sendable {
    /// Whose signals: a unique name, or a well-known one and then only from its present owner.
    package var sender: String?
    package var interface: String?
    package var member: String?
    package var path: ObjectPath?
    /// This object and all below it.
    package var pathNamespace: ObjectPath?
    /// The first argument, when it is a string of just this text.
    package var firstArgument: String?

    package init(
        from sender: String? = nil,
        interface: String? = nil,
        member: String? = nil,
        path: ObjectPath? = nil,
        pathNamespace: ObjectPath? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
        self.pathNamespace = pathNamespace
        self.firstArgument = firstArgument
    }

    /// The rule in the bus's notation; nil when a part holds what would end its quotes.
    var text: String? {
        var parts = ["type='signal'"]
        let pairs = [
            ("sender", sender), ("interface", interface), ("member", member),
            ("path", path?.text), ("path_namespace", pathNamespace?.text),
            ("arg0", firstArgument),
        ]
        for (key, value) in pairs {
            guard let value else { continue }
            guard !value.utf8.contains(where: { $0 == 0x27 || $0 == 0x5C || $0 == 0 }) else {
                return nil
            }
            parts.append("\(key)='\(value)'")
        }
        return parts.joined(separator: ",")
    }

    /// Whether the heads of a signal fit; the first argument is looked at by `matches(body:)`.
    ///
    /// The owner is that of the sender's well-known name. Everybody may send us signals that no
    /// rule of ours asked for, so nothing may be left to the bus.
    func matches(
        sender: String?,
        owner: String?,
        interface: String?,
        member: String?,
        path: ObjectPath?
    ) -> Bool {
        if let wanted = self.sender, sender != owner ?? wanted { return false }
        if let wanted = self.interface, interface != wanted { return false }
        if let wanted = self.member, member != wanted { return false }
        if let wanted = self.path, path != wanted { return false }
        if let wanted = pathNamespace, path?.isWithin(wanted) != true { return false }
        return true
    }

    func matches(body: [DBusValue]) -> Bool {
        guard let firstArgument else { return true }
        return body.first == .string(firstArgument)
    }

    /// The well-known name whose owner must be known to tell who the sender is.
    var nameToTrack: String? {
        guard let sender, !sender.hasPrefix(":"), sender != Bus.name else { return nil }
        return sender
    }
}
