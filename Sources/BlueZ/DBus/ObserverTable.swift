/// The observers of signals, and the rules that the bus has for them.
struct ObserverTable {
    struct Observer {
        let rule: SignalRule
        let handler: @Sendable (Message) -> Void
        let onEnd: @Sendable () -> Void
    }

    private var observers: [UInt64: Observer] = [:]
    /// The order in which handlers are called.
    private var order: [UInt64] = []
    /// The number of observers for each rule at the bus.
    private var rules: [String: Int] = [:]
    private var lastID: UInt64 = 0
    /// The owners of the well-known names in rules; the inner value is nil for a name without an
    /// owner.
    private var owners: [String: String?] = [:]

    var count: Int { observers.count }
    var ruleCount: Int { rules.count }

    mutating func add(_ observer: Observer) -> UInt64 {
        lastID += 1
        observers[lastID] = observer
        order.append(lastID)
        return lastID
    }

    mutating func remove(_ id: UInt64) -> Observer? {
        order.removeAll { $0 == id }
        return observers.removeValue(forKey: id)
    }

    /// True when the rule must be added at the bus.
    mutating func retain(rule text: String) -> Bool {
        rules[text, default: 0] += 1
        return rules[text] == 1
    }

    /// True when the rule must be removed at the bus.
    mutating func release(rule text: String) -> Bool {
        guard let count = rules[text] else { return false }
        rules[text] = count > 1 ? count - 1 : nil
        return count == 1
    }

    func isTracking(_ name: String) -> Bool { owners[name] != nil }
    func owner(of name: String) -> String? { owners[name] ?? nil }
    mutating func setOwner(_ owner: String?, of name: String) {
        owners.updateValue(owner, forKey: name)
    }
    mutating func forgetOwner(of name: String) { owners[name] = nil }

    /// The observers whose rules match the header of the signal, in the order in which they were
    /// added.
    func candidates(for raw: borrowing RawMessage) -> [Observer] {
        let (sender, interface) = (raw.sender, raw.interface)
        let (member, path) = (raw.member, raw.path)
        return order.compactMap { id in
            guard let observer = observers[id] else { return nil }
            let rule = observer.rule
            var owner: String?
            if let name = rule.nameToTrack {
                // While a name has no owner, no signal matches it.
                guard let known = self.owner(of: name) else { return nil }
                owner = known
            }
            return rule.matches(
                sender: sender,
                owner: owner,
                interface: interface,
                member: member,
                path: path
            ) ? observer : nil
        }
    }

    mutating func endAll() {
        let ended = order.compactMap { observers[$0] }
        self = ObserverTable()
        for observer in ended { observer.onEnd() }
    }
}
