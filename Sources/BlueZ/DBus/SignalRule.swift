/// Selects signals, with the fields of a match rule of the bus.
package struct SignalRule: Hashable, Sendable {
    /// The sender: a unique name, or a well-known one, which means only its current owner.
    package var sender: String?
    package var interface: String?
    package var member: String?
    package var path: ObjectPath?
    /// This object and all objects below it.
    package var pathNamespace: ObjectPath?
    /// The first argument, which must be a string with exactly this text.
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

    /// The rule in the bus's notation; nil when a part contains a character that would end its
    /// quotes.
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

    /// Whether the header of a signal matches; `matches(body:)` checks the first argument.
    ///
    /// `owner` is the owner of the sender's well-known name. Any process may send us signals that
    /// no rule of ours requested, so the bus's filtering is not sufficient.
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

    /// The well-known name whose owner must be known to check the sender.
    var nameToTrack: String? {
        guard let sender, !sender.hasPrefix(":"), sender != Bus.name else { return nil }
        return sender
    }
}
