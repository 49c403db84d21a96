/// Builds a tree from events, and keeps the open lists and maps on its own stack.
struct TreeBuilder {
    /// A node with its size and depth after aliases are expanded.
    private struct Weighed {
        let node: SourceNode
        let count: Int
        let height: Int
    }

    /// A list or map whose end was not read yet.
    private struct Open {
        let place: Place
        let isMap: Bool
        let anchor: String?
        var items: [SourceNode] = []
        var entries: [SourceNode.Entry] = []
        var keys: [String: Place] = [:]
        /// The key whose value comes next; the text of a rejected key is nil.
        var key: (text: String?, place: Place)?
        var count = 1
        var height = 1
    }

    private let limits: YAMLLimits
    private var stack: [Open] = []
    private var anchors: [String: Weighed] = [:]
    private var total = 0
    private var documents = 0
    private var root: SourceNode?
    private(set) var faults: [YAMLFault] = []

    init(limits: YAMLLimits) { self.limits = limits }

    /// Processes one event; a fault ends the reading.
    mutating func take(_ kind: YAMLEvent.Kind, at place: Place) -> YAMLFault? {
        switch kind {
        case .end, .other: return nil
        case .documentStart:
            documents += 1
            return documents > 1 ? .severalDocuments(place) : nil
        case .scalar(let text, let style, let anchor, let tagged):
            if tagged { note(.tag(place)) }
            if let fault = charge(1, at: place) { return fault }
            let node = SourceNode(.scalar(text, style), at: place)
            add(Weighed(node: node, count: 1, height: 0), anchor: anchor)
            return nil
        case .listStart(let anchor, let tagged):
            if tagged { note(.tag(place)) }
            return open(Open(place: place, isMap: false, anchor: anchor))
        case .mapStart(let anchor, let tagged):
            if tagged { note(.tag(place)) }
            return open(Open(place: place, isMap: true, anchor: anchor))
        case .close:
            guard let closed = stack.popLast() else { return nil }
            let value: SourceNode.Value = closed.isMap ? .map(closed.entries) : .list(closed.items)
            let node = SourceNode(value, at: closed.place)
            add(
                Weighed(node: node, count: closed.count, height: closed.height),
                anchor: closed.anchor
            )
            return nil
        case .alias(let name): return alias(name, at: place)
        }
    }

    func finish(at place: Place) -> (tree: SourceNode?, faults: [YAMLFault]) {
        guard faults.isEmpty, let root else {
            return (root, faults.isEmpty ? [.empty(place)] : faults)
        }
        return root.isNothing ? (nil, [.empty(root.place)]) : (root, [])
    }

    private mutating func note(_ fault: YAMLFault) {
        guard faults.count < Diagnostics.most else { return }
        faults.append(fault)
    }

    private mutating func charge(_ count: Int, at place: Place) -> YAMLFault? {
        total += count
        return total > limits.nodes ? .tooManyNodes(place, limit: limits.nodes) : nil
    }

    private mutating func open(_ container: Open) -> YAMLFault? {
        guard stack.count < limits.depth else {
            return .tooDeep(container.place, limit: limits.depth)
        }
        if let fault = charge(1, at: container.place) { return fault }
        // An anchor is known from its beginning, so that an alias inside it is distinguished from a
        // typing error.
        if let anchor = container.anchor { anchors[anchor] = nil }
        stack.append(container)
        return nil
    }

    private mutating func alias(_ name: String, at place: Place) -> YAMLFault? {
        guard let target = anchors[name] else {
            let inside = stack.contains { $0.anchor == name }
            note(inside ? .aliasOfItself(place, name) : .unknownAlias(place, name))
            let node = SourceNode(.scalar("", .plain), at: place)
            add(Weighed(node: node, count: 1, height: 0), anchor: nil)
            return nil
        }
        if let fault = charge(target.count, at: place) { return fault }
        guard stack.count + target.height <= limits.depth else {
            return .tooDeep(place, limit: limits.depth)
        }
        add(target, anchor: nil)
        return nil
    }

    private mutating func add(_ weighed: Weighed, anchor: String?) {
        if let anchor { anchors[anchor] = weighed }
        guard !stack.isEmpty else {
            root = root ?? weighed.node
            return
        }
        let top = stack.count - 1
        stack[top].count += weighed.count
        stack[top].height = max(stack[top].height, weighed.height + 1)
        guard stack[top].isMap else {
            stack[top].items.append(weighed.node)
            return
        }
        guard let key = stack[top].key else {
            stack[top].key = key(weighed.node)
            return
        }
        stack[top].key = nil
        guard let text = key.text else { return }
        if let first = stack[top].keys[text] {
            note(.duplicateKey(key.place, text, first: first))
            return
        }
        stack[top].keys[text] = key.place
        stack[top].entries.append(
            SourceNode.Entry(key: text, keyPlace: key.place, value: weighed.node)
        )
    }

    private mutating func key(_ node: SourceNode) -> (text: String?, place: Place) {
        guard case .scalar(let text, let style) = node.value, !node.isNothing else {
            note(.keyNotText(node.place))
            return (nil, node.place)
        }
        if text == "<<", style == .plain {
            note(.mergeKey(node.place))
            return (nil, node.place)
        }
        return (text, node.place)
    }
}
