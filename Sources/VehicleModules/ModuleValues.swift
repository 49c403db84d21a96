import Base
import Families
import Radio

/// A module in range.
public struct DiscoveredVehicleModule: Sendable, Hashable {
    /// Its identity by its profile, from its advertisement or its address, always in lower case.
    public let serial: String
    /// The kind of module, for example `comodule`.
    public let family: String
    /// The names of the profiles that recognise it, of those that the scan is for; never empty.
    ///
    /// The first one is used to connect to it as discovered.
    public let profiles: [String]
    /// The name that it advertises, or the usual one of its family.
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

/// The secret that opens a module, never printed: hex text of up to 20 bytes (`comodule`),
/// `KEY:PASSWORD` (`lrdevice`), or what a wire of the program's own takes.
public struct ModuleSecret: Sendable, CustomStringConvertible {
    let secret: Secret

    /// The secret of this text; whether it fits is seen when it is used.
    public init(_ text: String) { self.init(Secret(Array(text.utf8))) }

    init(_ secret: Secret) { self.secret = secret }

    /// Passes the text to `body`, for a program that stores it where only its owner can read it.
    public func withText<R, E: Error>(_ body: (String) throws(E) -> R) throws(E) -> R {
        try body(secret.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    /// Always `<secret>`, in a debugger too.
    public var description: String { "<secret>" }
}

/// A value of a property.
public enum ModuleValue: Sendable, Hashable, CustomStringConvertible {
    /// In the property's unit.
    case number(Double)
    /// One of the states of the property, or words.
    case state(String)
    /// A value of the module for which its profile has no state.
    case unknownState(UInt64)
    /// Bytes whose meaning the library does not know.
    case bytes([UInt8])

    /// The value in the spelling of a manifest: `40`, `enabled`, `unknown(7)`, `0x00ff`.
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
    /// What values a property has.
    public enum Kind: Sendable, Hashable {
        /// A number between two limits, in steps if it can be written.
        case range(writable: ClosedRange<Double>?, step: Double?)
        /// One of these words.
        case states([String])
        /// This many bytes.
        case raw(bytes: Int)
        /// Words; the value is a state.
        case text
    }

    /// The name of the property in its profile.
    public let name: String
    /// The kind of vehicle that it is for; nil for all.
    public let variant: String?
    /// The unit of its numbers; nil where it has none.
    public let unit: String?
    /// What values it has.
    public let kind: Kind
    /// The limits of its value; nil where they are unknown, or where it is no number.
    public let limits: ClosedRange<Double>?
    /// Its default value; nil where that is unknown, or where it is no number.
    public let initial: Double?
    /// Whether it can be read.
    public let isReadable: Bool
    /// Whether it can be written.
    public let isWritable: Bool
    /// Nil for a property that can only be written, or that this module does not provide.
    public let value: ModuleValue?

    /// When the value was read, in milliseconds since 1970, for a value that is remembered from an
    /// earlier link; nil for all others.
    public let cached: Int64?

    /// A remembered value; nil when the property has other values now.
    init?(_ spec: PropertySpec, _ reading: CachedModule.Reading) {
        switch (spec.form, reading.value) {
        case (.range, .number), (.states, .state), (.states, .unknownState), (.text, .state): break
        case (.raw(let length), .bytes(let bytes)) where bytes.count == length: break
        case (.range, _), (.states, _), (.raw, _), (.text, _): return nil
        }
        self.init(spec, reading.value, cached: reading.time.milliseconds)
    }

    init(_ spec: PropertySpec, _ value: PropertyValue?, cached: Int64? = nil) {
        self.cached = cached
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
    /// The kind of vehicle that it is set up for; 0 where it does not report one.
    public let variant: Int
    /// The version of the module's first processor.
    public let primary: String?
    /// The version that the module itself runs; no slot of MCUboot is meant.
    public let secondary: String
    /// The version of its bootloader.
    public let bootloader: String?
    /// The versions of external components, by the name of the part.
    public let externalComponents: [String: String]
    /// Whether the module itself sends data to a cloud; nil when it does not say.
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
    /// A connection is being made, with its present step.
    case connecting(name: String, serial: String, Connecting)
    /// The module can be used.
    case connected(name: String, serial: String)

    /// The steps of making a connection.
    public enum Connecting: Sendable, Hashable {
        /// Bluetooth is off; the module is looked for; a link is made and opened; the module's own
        /// update is waited for.
        case bluetoothOff, searching, handshaking, firmwareUpdateOngoing
    }

    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}
