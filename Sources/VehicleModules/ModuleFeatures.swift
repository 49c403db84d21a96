import Base
import Families
import Radio

/// A command that a module understands, as its profile describes it.
public struct ProfileFeature: Sendable, Hashable {
    /// The kinds of value that a command takes.
    public enum Value: Sendable, Hashable {
        /// No value.
        case none
        /// `on` or `off`.
        case boolean
        /// A number from 0 to 255, or `off` where that is allowed.
        case byte(mayBeOff: Bool)
        /// A text of at most this many characters.
        case text(limit: Int)
        /// Texts, separated by commas.
        case texts
        /// One of these words.
        case states([String])
    }

    /// The name of the command.
    public let name: String
    /// The kind of value that it takes.
    public let value: Value
    /// Whether the command requires the module's secret.
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
    /// The module's features, in the order of its profile; empty while it is not connected.
    public var features: [ProfileFeature] {
        get async { await connection.features.map { ProfileFeature($0) } }
    }

    /// Sends a command of the module's profile, with the value in the spelling of a manifest.
    ///
    /// It is sent once. `refused` means that the module refused it, with an answer that its profile
    /// lists as a refusal; after `in-doubt`, it is unknown whether the module carried it out.
    ///
    /// ```swift
    /// try await module.perform("lock", "unlocked")
    /// ```
    public func perform(_ name: String, _ value: String = "on") async throws(ModuleFailure) {
        if let hindrance = await connection.hindrance { throw hindrance }
        let features = await connection.features
        guard let feature = features.first(where: { $0.name == name }) else {
            throw ModuleFailure(
                .propertyNotFound,
                "the module has no feature `\(name.visible.prefix(64))`",
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
            try await connection.perform(feature, payload, nonce: Chance.nonce())
        } catch { throw ModuleFailure(error) }
    }
}

extension ModuleFailure {
    fileprivate init(_ error: FeatureError) {
        switch error {
        case .noCredentials(let words):
            self.init(.invalidPrivateKey, words, "connect with the module's secret")
        case .inDoubt(let words):
            self.init(.inDoubt, words, "look at the module before you send it again")
        case .radio(let radio): self.init(radio, radio.description)
        case .failed(let failure, let words):
            let code: Code =
                switch failure {
                case .rejected, .device: .refused
                case .transient, .unreachable: .moduleNotConnected
                case .inDoubt: .inDoubt
                case .integrity, .noReturn, .wrongVersion, .rolledBack, .internal: .unexpected
                }
            self.init(code, words, "check that the module is not busy, and send it again")
        }
    }
}
