import Domain
import Families
import Modules
import Radio

/// Something that a module can be told to do, as its profile describes it.
public struct ModuleFeature: Sendable, Hashable {
    /// What it is told besides.
    public enum Value: Sendable, Hashable {
        case none
        /// `on` or `off`.
        case boolean
        /// A number from 0 to 255, or `off` where that is allowed.
        case byte(mayBeOff: Bool)
        case text(limit: Int)
        /// Texts with commas between.
        case texts
        case states([String])
    }

    public let name: String
    public let value: Value
    /// It is told only by anyone who has the module's secret.
    public let isSealed: Bool

    init(_ spec: FeatureSpec) {
        name = spec.name
        isSealed = spec.seal != .none
        value =
            switch spec.payload {
            case .none: Value.none
            case .boolean: .boolean
            case .byte(let mayBeOff): .byte(mayBeOff: mayBeOff)
            case .text(let limit, _): .text(limit: limit)
            case .texts: .texts
            case .states(let states): .states(states.map(\.name))
            }
    }
}

extension ConnectedModule {
    /// What it can be told to do, in the order of its profile; empty while it is not connected.
    public var features: [ModuleFeature] {
        get async { await connection.features.map { ModuleFeature($0) } }
    }

    /// Tells the module to do something of its profile, with the value as a manifest would have it.
    ///
    /// It is told once. `refused` is its own no, by an answer that its profile declares as such; after `in-doubt`
    /// nobody knows whether it was done.
    ///
    /// ```swift
    /// try await module.perform("lock", "unlocked")
    /// ```
    public func perform(_ name: String, _ value: String = "on") async throws(ModuleFailure) {
        let features = await connection.features
        guard let feature = features.first(where: { $0.name == name }) else {
            throw ModuleFailure(
                state.isConnected ? .propertyNotFound : .moduleNotConnected,
                state.isConnected
                    ? "the module has no feature `\(name.visible.prefix(64))`"
                    : "the module is not connected",
                features.isEmpty
                    ? "connect to one whose profile has features"
                    : "it has " + features.map(\.name).joined(separator: ", ")
            )
        }
        let payload: [UInt8]
        do throws(PropertyMistake) { payload = try feature.payload(of: value) } catch {
            throw ModuleFailure(.invalidValue, error.message, error.hint)
        }
        do throws(FeatureError) {
            try await connection.perform(feature, payload, nonce: LockSession.nonce())
        } catch { throw ModuleFailure(error) }
    }
}

extension ModuleConnectionState {
    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

extension ModuleFailure {
    fileprivate init(_ error: FeatureError) {
        switch error {
        case .noCredentials(let words):
            self.init(.invalidPrivateKey, words, "connect with the module's secret")
        case .inDoubt(let words):
            self.init(.inDoubt, words, "look at the module before it is told again")
        case .radio(let radio): self.init(radio, radio.description)
        case .failed(let failure, let words):
            let code: Code =
                switch failure {
                case .rejected, .device: .refused
                case .transient, .unreachable: .moduleNotConnected
                case .inDoubt: .inDoubt
                case .integrity, .noReturn, .wrongVersion, .rolledBack, .internal: .unexpected
                }
            self.init(code, words, "see whether the module is free, and tell it again")
        }
    }
}
