import Base
import Families
import Radio

/// A connected module; it may have lost its link since.
public struct ConnectedModule: Sendable {
    let connection: ModuleConnection
    let radio: ModuleRadio

    /// The state of the connection: the current one, and each new one.
    public var states: AsyncStream<ModuleConnectionState> { connection.state.values() }

    /// The state of the connection now.
    public var state: ModuleConnectionState { connection.state.value }

    /// Nil while the module is not connected, and for families whose modules do not report their
    /// versions.
    public var firmware: ModuleFirmwareInfo? { connection.versions.value }

    /// The current firmware information, and each new one; a slow reader misses only older values,
    /// never the newest.
    public var firmwareInfos: AsyncStream<ModuleFirmwareInfo?> {
        connection.versions.values()
    }

    /// The update status of the module.
    public var updateStatus: ModuleUpdateStatus { connection.update.value }

    /// The current update status, and each new one; a slow reader misses only older values, never
    /// the newest.
    public var updateStatuses: AsyncStream<ModuleUpdateStatus> { connection.update.values() }

    // MARK: Properties

    /// The module's properties, in the order of its profile; empty while it is not connected.
    public var properties: [ModuleProperty] {
        get async { connection.properties.value }
    }

    /// One property of the module: its kind, unit, limits, access and variant, and its last known
    /// value.
    ///
    /// Throws `property-not-found` for a name that is not in the module's profile; one that is there
    /// and of another kind than expected has another `kind`.
    public func property(_ name: String) async throws(ModuleFailure) -> ModuleProperty {
        do throws(PropertyReadError) { return try await connection.described(name) } catch {
            throw ModuleFailure(error)
        }
    }

    /// The same as its value changes: the current one, and each new one; nil while the module is not
    /// connected or does not provide it.
    ///
    /// However fast it changes, a slow reader misses only older values, never the newest.
    public func properties(
        named name: String
    ) async throws(ModuleFailure) -> AsyncStream<ModuleProperty?> {
        _ = try await property(name)
        return Self.map(await connection.watch(name)) { output in
            switch output {
            case .available(let spec, let value): ModuleProperty(spec, value)
            case .writeOnly(let spec): ModuleProperty(spec, nil)
            case .notAvailable: nil
            }
        }
    }

    /// Reads the property from the module.
    public func read(_ name: String) async throws(ModuleFailure) -> ModuleValue {
        do throws(PropertyReadError) {
            return ModuleValue(try await connection.read(name))
        } catch { throw ModuleFailure(error) }
    }

    /// Writes the property, reads it back, and returns the value that the module has taken.
    @discardableResult
    public func write(
        _ value: ModuleValue,
        to name: String
    ) async throws(ModuleFailure) -> ModuleValue {
        do throws(PropertyWriteError) {
            return ModuleValue(try await connection.write(value.value, to: name))
        } catch { throw ModuleFailure(error) }
    }

    /// The current value, and each new one; nil while there is none.
    ///
    /// An unknown name is not refused: its value stays nil.
    ///
    /// However fast values change, a slow reader misses only older ones, never the newest.
    public func values(of name: String) async -> AsyncStream<ModuleValue?> {
        Self.map(await connection.watch(name)) { output in
            output.value.map { ModuleValue($0) }
        }
    }

    private static func map<Old: Sendable, New: Sendable>(
        _ stream: AsyncStream<Old>,
        _ change: @escaping @Sendable (Old) -> New
    ) -> AsyncStream<New> {
        let source = Source(stream)
        return AsyncStream { await source.next().map(change) }
    }

    // MARK: Key

    /// Gives a module of family `comodule` another secret, and proves it on a new link.
    ///
    /// Returns false when the module still requires the old secret; it is then connected with that.
    /// This also holds when a link is lost meanwhile: the new link shows which secret the module
    /// requires. Locks of family `lrdevice` agree on a key instead: `agreeOnSecret`.
    public func changeSecret(to secret: ModuleSecret) async throws(ModuleFailure) -> Bool {
        try await connection.changeKey(to: secret.secret)
    }
}

/// The single reader of a stream from which another stream is made.
actor Source<Value: Sendable> {
    private var iterator: AsyncStream<Value>.Iterator

    init(_ stream: AsyncStream<Value>) { iterator = stream.makeAsyncIterator() }

    func next() async -> Value? {
        var copy = iterator
        let value = await copy.next(isolation: self)
        iterator = copy
        return value
    }
}

/// A reader of a changing value that ends after the last value.
actor LastingReader<Value: Sendable & Equatable> {
    private let source: Source<Value>
    private let isLast: @Sendable (Value) -> Bool
    private var told: Value?

    init(_ source: Source<Value>, isLast: @escaping @Sendable (Value) -> Bool) {
        self.source = source
        self.isLast = isLast
    }

    func next() async -> Value? {
        while !(told.map(isLast) ?? false), let now = await source.next() {
            guard now != told else { continue }
            told = now
            return now
        }
        return nil
    }
}

extension Latest where Value: Equatable {
    /// The current value, then each new one, up to the last.
    func values(until isLast: @escaping @Sendable (Value) -> Bool) -> AsyncStream<Value> {
        let reader = LastingReader(Source(values()), isLast: isLast)
        return AsyncStream { await reader.next() }
    }
}
