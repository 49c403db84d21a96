/// Parses YAML text into a tree, and reports its faults.
package enum YAMLReader {
    /// The tree and the faults; after a syntax fault there is no tree.
    package static func read(
        _ source: [UInt8],
        limits: YAMLLimits = YAMLLimits(),
        origin: (_ line: Int, _ column: Int) -> Place
    ) -> (tree: SourceNode?, faults: [YAMLFault]) {
        guard source.count <= limits.bytes else {
            return (nil, [.tooLarge(limit: limits.bytes)])
        }
        let hasByteOrderMark = source.starts(with: [0xEF, 0xBB, 0xBF])
        let bytes = hasByteOrderMark ? Array(source.dropFirst(3)) : source
        if let fault = SourceCheck.fault(bytes, origin: origin) { return (nil, [fault]) }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            guard var events = unsafe YAMLEvents(buffer) else {
                return (nil, [.syntax(origin(1, 1), "out of memory", hint: "try again")])
            }
            return read(&events, bytes: bytes, limits: limits, origin: origin)
        }
    }

    private static func read(
        _ events: inout YAMLEvents,
        bytes: [UInt8],
        limits: YAMLLimits,
        origin: (_ line: Int, _ column: Int) -> Place
    ) -> (tree: SourceNode?, faults: [YAMLFault]) {
        var builder = TreeBuilder(limits: limits)
        while true {
            switch events.next() {
            case .failure(let failure):
                return (nil, builder.faults + [failure.problem.fault(in: bytes, origin: origin)])
            case .success(let event):
                let place = origin(event.line, event.column)
                if case .end = event.kind { return builder.finish(at: place) }
                if let fatal = builder.take(event.kind, at: place) {
                    return (nil, builder.faults + [fatal])
                }
            }
        }
    }
}
