import Base
import Radio

/// A profile of a program's own, as text, as bytes, or as values: what its file would say.
///
/// ```swift
/// let lamp: ModuleProfile = [
///     "profile": "lamp", "family": "mcumgr", "title": "Lamp", "known-from": "its documents",
///     "advertisement": ["name": "LMP-*", "serial": ["in": "name"]],
///     "gatt": [
///         "management": [
///             "service": "8d53dc1d-1db7-4cd3-868b-8a527460aa84",
///             "smp": "da2e7828-fbce-4e01-ae9e-261174997c48",
///         ]
///     ],
///     "authentication": "none",
/// ]
/// ```
public struct ModuleProfile: Sendable, Hashable {
    private indirect enum Form: Hashable, Sendable {
        /// A whole file, or one value in it.
        case text([UInt8])
        case number(Int)
        case flag(Bool)
        case list([ModuleProfile])
        case members([Member])
    }

    private struct Member: Hashable, Sendable {
        let name: String
        let value: ModuleProfile
    }

    private let form: Form

    /// The text of a profile's file.
    public init(_ text: String) { form = .text(Array(text.utf8)) }

    /// The bytes of a profile's file.
    public init(bytes: [UInt8]) { form = .text(bytes) }

    /// What its file would hold: JSON is YAML.
    var bytes: [UInt8] {
        if case .text(let bytes) = form { return bytes }
        return json.bytes
    }

    private var json: JSONValue {
        switch form {
        case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        case .number(let number): .int(number)
        case .flag(let flag): .bool(flag)
        case .list(let elements): .array(elements.map(\.json))
        case .members(let members):
            .object(members.map { JSONMember($0.name, $0.value.json) })
        }
    }
}

extension ModuleProfile: ExpressibleByStringLiteral {
    /// The text of a profile, or a text in it.
    public init(stringLiteral text: String) { self.init(text) }
}

extension ModuleProfile: ExpressibleByIntegerLiteral {
    /// A whole number in a profile.
    public init(integerLiteral number: Int) { form = .number(number) }
}

extension ModuleProfile: ExpressibleByBooleanLiteral {
    /// A yes or no in a profile.
    public init(booleanLiteral flag: Bool) { form = .flag(flag) }
}

extension ModuleProfile: ExpressibleByArrayLiteral {
    /// A list in a profile.
    public init(arrayLiteral elements: ModuleProfile...) { form = .list(elements) }
}

extension ModuleProfile: ExpressibleByDictionaryLiteral {
    /// A profile, or a group in it, by its keys.
    public init(dictionaryLiteral members: (String, ModuleProfile)...) {
        form = .members(members.map { Member(name: $0, value: $1) })
    }
}
