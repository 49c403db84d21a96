/// Our objects on one connection: their interfaces, their properties, and their handlers.
///
/// A value without a bus: it answers calls if it can, and otherwise returns the handler.
struct ObjectTree {
    struct Interface {
        let description: InterfaceDescription
        var properties: [String: DBusValue]
        let handler: @Sendable (IncomingCall) -> Void
    }

    enum Answer {
        case values([DBusValue])
        case error(ErrorReply)
        /// The handler of the interface answers.
        case ask(@Sendable (IncomingCall) -> Void)
    }

    private var objects: [ObjectPath: [String: Interface]] = [:]
    private var managers: Set<ObjectPath> = []

    var isEmpty: Bool { objects.isEmpty && managers.isEmpty }
    var count: Int { objects.count }

    // MARK: Building

    mutating func add(_ interface: Interface, at path: ObjectPath) {
        precondition(
            objects[path]?[interface.description.name] == nil,
            "\(path) has an interface \(interface.description.name)"
        )
        objects[path, default: [:]][interface.description.name] = interface
    }

    /// Removes an object, and returns the names of its interfaces.
    mutating func remove(_ path: ObjectPath) -> [String] {
        objects.removeValue(forKey: path).map { $0.keys.sorted() } ?? []
    }

    mutating func makeManager(_ path: ObjectPath) { managers.insert(path) }
    mutating func removeManager(_ path: ObjectPath) { managers.remove(path) }

    /// The object that announces additions and removals: the nearest manager above the path.
    func manager(of path: ObjectPath) -> ObjectPath? {
        var candidate: ObjectPath? = path
        while let place = candidate {
            if managers.contains(place) { return place }
            candidate = place.parent
        }
        return nil
    }

    /// Sets properties; false when there is no such interface.
    mutating func update(
        _ changed: [String: DBusValue],
        removed: [String],
        of interface: String,
        at path: ObjectPath
    ) -> Bool {
        guard objects[path]?[interface] != nil else { return false }
        for (name, value) in changed {
            objects[path]?[interface]?.properties[name] = value
        }
        for name in removed { objects[path]?[interface]?.properties[name] = nil }
        return true
    }

    func properties(of interface: String, at path: ObjectPath) -> [String: DBusValue]? {
        objects[path]?[interface]?.properties
    }

    // MARK: Answering

    func answer(
        path: ObjectPath,
        interface: String?,
        member: String,
        arguments: [DBusValue]
    ) -> Answer {
        let own = objects[path] ?? [:]
        let isManager = managers.contains(path)
        let children = children(of: path)
        if own.isEmpty, !isManager, children.isEmpty {
            return interface == InterfaceDescription.peer.name
                ? standard(.peer, member, arguments, path: path, own)
                : .error(.unknownObject(path))
        }
        var standards: [InterfaceDescription] = [.introspectable, .peer]
        if !own.isEmpty { standards.append(.properties) }
        if isManager { standards.append(.objectManager) }
        if let found = standards.first(where: {
            interface == nil ? $0.method(member) != nil : $0.name == interface
        }) {
            return standard(found, member, arguments, path: path, own)
        }
        let candidates =
            interface.map { name in own[name].map { [$0] } ?? [] }
            ?? own.sorted { $0.key < $1.key }.map(\.value)
        if let interface, candidates.isEmpty { return .error(.unknownInterface(interface)) }
        for candidate in candidates {
            guard let method = candidate.description.method(member) else { continue }
            return Self.check(method, arguments) ?? .ask(candidate.handler)
        }
        return .error(.unknownMethod(member))
    }

    private static func check(
        _ method: InterfaceDescription.Method,
        _ arguments: [DBusValue]
    ) -> Answer? {
        let found = arguments.map(\.signature.text).joined()
        guard found != method.signature else { return nil }
        let error = ValueError.body(expected: method.signature, found: found)
        return .error(.invalidArguments("\(method.name): \(error)"))
    }

    private func standard(
        _ interface: InterfaceDescription,
        _ member: String,
        _ arguments: [DBusValue],
        path: ObjectPath,
        _ own: [String: Interface]
    ) -> Answer {
        guard let method = interface.method(member) else { return .error(.unknownMethod(member)) }
        if let error = Self.check(method, arguments) { return error }
        let texts = arguments.compactMap(\.asString)
        switch member {
        case "Ping": return .values([])
        case "GetMachineId": return .values([.string(String(repeating: "0", count: 32))])
        case "Introspect": return .values([.string(introspection(of: path))])
        case "GetManagedObjects": return .values([managedObjects(under: path)])
        case "GetAll":
            guard let interface = own[texts[0]] else {
                return .error(.unknownInterface(texts[0]))
            }
            return .values([.properties(interface.properties)])
        case "Get":
            guard let interface = own[texts[0]] else {
                return .error(.unknownInterface(texts[0]))
            }
            guard let value = interface.properties[texts[1]] else {
                return .error(.unknownProperty(texts[1]))
            }
            return .values([.variant(value)])
        case "Set":
            guard let interface = own[texts[0]] else {
                return .error(.unknownInterface(texts[0]))
            }
            guard let property = interface.description.property(texts[1]) else {
                return .error(.unknownProperty(texts[1]))
            }
            guard property.isWritable else { return .error(.readOnlyProperty(texts[1])) }
            let found = arguments[2].unwrapped.signature
            guard found == property.type else {
                let error = ValueError.mismatch(expected: property.type, found: found)
                return .error(.invalidArguments("\(error)"))
            }
            return .ask(interface.handler)
        default: return .error(.unknownMethod(member))
        }
    }

    private func children(of path: ObjectPath) -> [String] {
        let skipped = path == .root ? 1 : path.text.utf8.count + 1
        var names: Set<String> = []
        for other in objects.keys where other != path && other.isWithin(path) {
            let rest = other.text.utf8.dropFirst(skipped).prefix { $0 != 0x2F }
            names.insert(String(decoding: rest, as: UTF8.self))
        }
        return names.sorted()
    }

    func introspection(of path: ObjectPath) -> String {
        let own = objects[path] ?? [:]
        var descriptions = own.values.map(\.description) + [.introspectable, .peer]
        if !own.isEmpty { descriptions.append(.properties) }
        if managers.contains(path) { descriptions.append(.objectManager) }
        return InterfaceDescription.document(descriptions, children: children(of: path))
    }

    /// All objects below the manager, in the form of `GetManagedObjects`.
    private func managedObjects(under manager: ObjectPath) -> DBusValue {
        let below = objects.keys.filter { $0.isWithin(manager) && $0 != manager }.sorted()
        return .dictionary(
            key: .objectPath,
            value: Signature(checked: "a{sa{sv}}"),
            below.map {
                DBusEntry(key: .objectPath($0), value: interfaces(at: $0))
            }
        )
    }

    /// The interfaces of an object and their properties, in the form of `InterfacesAdded`.
    func interfaces(at path: ObjectPath) -> DBusValue {
        let own = (objects[path] ?? [:]).sorted { $0.key < $1.key }
        return .dictionary(
            key: .string,
            value: .properties,
            own.map {
                DBusEntry(key: .string($0.key), value: .properties($0.value.properties))
            }
        )
    }
}
