import Base
import Families
import Radio

/// A module in range.
public struct DiscoveredVehicleModule: Sendable, Hashable {
    public let serial: String
    /// The kind of module, for example `comodule`.
    public let family: String
    /// The names of the profiles that recognise it, of those that the scan is for; never empty.
    ///
    /// The first one is used to connect to it as discovered.
    public let profiles: [String]
    public let name: String
    /// In dBm.
    public let signal: Int

    /// Nil when none of the `wanted` profiles recognises it.
    init?(_ module: DiscoveredModule, for wanted: Set<String>? = nil) {
        profiles = module.profiles.filter { name in
            wanted?.contains("\(module.family.rawValue)/\(name)") ?? true
        }
        guard !profiles.isEmpty else { return nil }
        serial = module.serial.text
        family = module.family.rawValue
        name = module.name
        signal = module.signal
    }
}

/// The secret that opens a module: hex text of up to 20 bytes, or `KEY:PASSWORD` for a lock; never
/// printed.
public struct ModuleSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let secret: Secret

    public init(_ text: String) { secret = Secret(Array(text.utf8)) }

    /// Passes the text to `body`, for a program that stores it where only its owner can read it.
    public func withText<R, E: Error>(_ body: (String) throws(E) -> R) throws(E) -> R {
        try body(secret.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
}

/// A value of a property.
public enum ModuleValue: Sendable, Hashable, CustomStringConvertible {
    /// In the property's unit.
    case number(Double)
    case state(String)
    /// A value of the module for which its profile has no state.
    case unknownState(UInt64)
    case bytes([UInt8])

    public var description: String { value.text }

    init(_ value: PropertyValue) {
        switch value {
        case .number(let number): self = .number(number)
        case .state(let name): self = .state(name)
        case .unknownState(let raw): self = .unknownState(raw)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }

    var value: PropertyValue {
        switch self {
        case .number(let number): .number(number)
        case .state(let name): .state(name)
        case .unknownState(let raw): .unknownState(raw)
        case .bytes(let bytes): .bytes(bytes)
        }
    }
}

/// A property of a connected module, with its last known value.
public struct ModuleProperty: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// A number between two limits, in steps if it can be written.
        case range(writable: ClosedRange<Double>?, step: Double?)
        case states([String])
        case raw(bytes: Int)
        /// Words; the value is a state.
        case text
    }

    public let name: String
    /// The kind of vehicle that it is for; nil for all.
    public let variant: String?
    public let unit: String?
    public let kind: Kind
    /// The limits of its value; nil where they are unknown, or where it is no number.
    public let limits: ClosedRange<Double>?
    /// Its default value; nil where that is unknown, or where it is no number.
    public let initial: Double?
    public let isReadable: Bool
    public let isWritable: Bool
    /// Nil for a property that can only be written, or that this module does not provide.
    public let value: ModuleValue?

    init(_ spec: PropertySpec, _ value: PropertyValue?) {
        name = spec.name
        variant = spec.variant
        unit = spec.unit
        let range: RangeForm? = if case .range(let form) = spec.form { form } else { nil }
        limits = range?.limits
        initial = range?.writing?.initial
        kind =
            switch spec.form {
            case .range(let form):
                .range(writable: form.writing?.limits, step: form.writing?.step)
            case .states(let form): .states(form.names)
            case .raw(let length): .raw(bytes: length)
            case .text: .text
            }
        isReadable = spec.access.isReadable
        isWritable = spec.access.isWritable
        self.value = value.map { ModuleValue($0) }
    }
}

/// What a connected module reports about its firmware.
public struct ModuleFirmwareInfo: Sendable, Hashable {
    /// The combination of module and vehicle that it is made for; nil when it does not report it.
    public let type: Int?
    public let variant: Int
    public let primary: String?
    /// The module's own firmware.
    public let secondary: String
    public let bootloader: String?
    /// The versions of external components, by the name of the part.
    public let externalComponents: [String: String]
    public let sendsToCloud: Bool?

    /// Nil when it reports no version.
    init?(_ found: Inspection) {
        guard let own = found.versions[.secondary] ?? found.firmware.version else { return nil }
        type = found.firmware.type
        variant = found.firmware.variant ?? 0
        primary = found.versions[.primary]?.description
        secondary = own.description
        bootloader = found.versions[.bootloader]?.description
        var externals: [String: String] = [:]
        for part in [ModulePart.external1, .external2] {
            externals[part.rawValue] = found.versions[part]?.description
        }
        externalComponents = externals
        sendsToCloud = found.sendsToCloud
    }
}

/// The state of a connection.
public enum ModuleConnectionState: Sendable, Hashable {
    /// No connection is attempted.
    ///
    /// The failure is the reason; nil where none was requested, or where this program ended it.
    case disconnected(ModuleFailure?)
    case connecting(name: String, serial: String, Connecting)
    case connected(name: String, serial: String)

    public enum Connecting: Sendable, Hashable {
        case bluetoothOff, searching, handshaking, firmwareUpdateOngoing
    }

    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}
