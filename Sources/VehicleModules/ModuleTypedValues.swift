import Radio

/// Values of a property of one kind, without the cases of others.
extension ConnectedModule {
    /// The numbers of a range: the current one, and each new one; nil while there is none.
    ///
    /// Throws `property-not-found` for an unknown name, and `property-wrong-type` for a property
    /// that is no range. A slow reader misses only older numbers, never the newest.
    public func rangeValues(
        of name: String
    ) async throws(ModuleFailure) -> AsyncStream<Double?> {
        try await values(of: name, like: .range) { value in
            if case .number(let number) = value { number } else { nil }
        }
    }

    /// The states of a property, or its words; as `rangeValues`.
    ///
    /// A state without a name is told as `unknown(7)`.
    public func stateValues(
        of name: String
    ) async throws(ModuleFailure) -> AsyncStream<String?> {
        try await values(of: name, like: .states) { $0.description }
    }

    /// The bytes of a property; as `rangeValues`.
    public func rawValues(
        of name: String
    ) async throws(ModuleFailure) -> AsyncStream<[UInt8]?> {
        try await values(of: name, like: .raw) { value in
            if case .bytes(let bytes) = value { bytes } else { nil }
        }
    }

    private func values<V: Sendable>(
        of name: String,
        like kind: PropertyKind,
        _ part: @escaping @Sendable (ModuleValue) -> V?
    ) async throws(ModuleFailure) -> AsyncStream<V?> {
        let (found, call): (PropertyKind, String) =
            switch try await property(name).kind {
            case .range: (.range, "rangeValues")
            case .states, .text: (.states, "stateValues")
            case .raw: (.raw, "rawValues")
            }
        guard found == kind else {
            throw ModuleFailure(
                .propertyWrongType,
                "`\(name)` is of another kind: \(found.rawValue)",
                "follow it with `\(call)`"
            )
        }
        let source = Source(await values(of: name))
        return AsyncStream { await source.next().map { $0.flatMap(part) } }
    }
}
