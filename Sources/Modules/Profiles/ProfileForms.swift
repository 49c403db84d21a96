package import Domain
package import Radio

/// How a module is known by what it advertises, and where its serial stands in that.
package struct AdvertisementForm: Sendable, Hashable {
    package enum SerialForm: String, CaseIterable, Sendable, Hashable {
        /// Raw bytes: two hex digits each.
        case hex
        /// Characters as they are.
        case text
    }

    package enum SerialPlace: Sendable, Hashable {
        /// After the company identifier: so many bytes from there on, and no more data than that
        /// unless `isExact` is false.
        case manufacturerData(offset: Int, length: Int, form: SerialForm, isExact: Bool)
        /// What follows this prefix of the name.
        case name(after: String)
    }

    /// Nil when no manufacturer data is looked at.
    package let company: UInt16?
    /// Nil when no service is advertised.
    package let service: GATTUUID?
    package let serial: SerialPlace

    /// Nil unless something tells these modules from others.
    package init?(company: UInt16?, service: GATTUUID?, serial: SerialPlace) {
        guard company != nil || service != nil else { return nil }
        if company == nil, case .manufacturerData = serial { return nil }
        self.company = company
        self.service = service
        self.serial = serial
    }

    /// The serial of a module of this kind; nil for everybody else.
    package func serial(in advertisement: Advertisement) -> Serial? {
        if let service, company == nil, !advertisement.services.contains(service) { return nil }
        let data = company.flatMap { advertisement.manufacturerData[$0] }
        if company != nil, data == nil { return nil }
        switch serial {
        case .manufacturerData(let offset, let length, let form, let isExact):
            guard let data, data.count - offset >= length, offset >= 0,
                !isExact || data.count == offset + length
            else { return nil }
            let bytes = data[offset..<(offset + length)]
            switch form {
            case .hex: return Serial(bytes: bytes)
            case .text: return Serial(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        case .name(let prefix):
            guard let name = advertisement.name, name.hasPrefix(prefix) else { return nil }
            return Serial(name.dropFirst(prefix.count))
        }
    }
}

/// The groups of characteristics that a family speaks over, and their roles.
package enum GATTRole: String, CaseIterable, Sendable, Hashable {
    case notifier, register, selector
    case key, challenge, response, authenticated
    case request, reply
    case smp
    case notify, write

    /// The service that holds it, as a profile calls it.
    package var group: String {
        switch self {
        case .notifier, .register, .selector: "metrics"
        case .key, .challenge, .response, .authenticated: "security"
        case .request, .reply: "messages"
        case .smp: "management"
        case .notify, .write: "socket"
        }
    }

    /// What a profile of a family must name.
    package static func roles(of family: Family) -> [GATTRole] {
        switch family {
        case .comodule:
            [.notifier, .register, .selector, .key, .challenge, .response, .authenticated]
        case .lrdevice: [.request, .reply]
        case .mcumgr: [.smp]
        case .geotabGo: [.notify, .write]
        }
    }
}

/// Services and characteristics by their roles.
package struct GATTForm: Sendable, Hashable {
    /// By the name of their group; a socket's service is not there: each token has its own.
    package let services: [String: GATTUUID]
    package let uuids: [GATTRole: GATTUUID]

    package init(services: [String: GATTUUID], uuids: [GATTRole: GATTUUID]) {
        self.services = services
        self.uuids = uuids
    }

    /// Nil when the profile does not name it, or its service is known at run time only.
    package func characteristic(_ role: GATTRole) -> Characteristic? {
        guard let service = services[role.group], let uuid = uuids[role] else { return nil }
        return Characteristic(uuid, of: service)
    }
}

/// How we prove to a module that we may speak to it.
package enum AuthenticationForm: String, CaseIterable, Sendable, Hashable {
    case none
    /// SHA-1 of a challenge and the key.
    case challengeResponse = "challenge-response"
    /// A key exchange, then a sealed password.
    case keyExchange = "key-exchange"
    /// A signed token.
    case token
}

/// One message a module understands besides its properties.
package struct FeatureSpec: Sendable, Hashable {
    package enum Payload: Sendable, Hashable {
        case none
        /// `on`, `off`, `true` or `false`.
        case boolean
        /// A number of one byte.
        case byte
        /// Text of at most so many bytes.
        case text(limit: Int)
        /// Texts with 1F between them.
        case texts
        /// One of several words, each a byte.
        case states([StatesForm.State])

        package var word: String {
            switch self {
            case .none: "none"
            case .boolean: "boolean"
            case .byte: "byte"
            case .text: "text"
            case .texts: "texts"
            case .states: "states"
            }
        }

        package static let words = ["none", "boolean", "byte", "text", "texts", "states"]
    }

    package enum Seal: String, CaseIterable, Sendable, Hashable {
        case none
        /// The payload itself.
        case payload
        /// The sealed password follows the payload.
        case password
    }

    package let name: String
    package let command: UInt8
    package let namespace: UInt8
    package let payload: Payload
    package let seal: Seal

    package init(
        name: String,
        command: UInt8,
        namespace: UInt8,
        payload: Payload,
        seal: Seal
    ) {
        self.name = name
        self.command = command
        self.namespace = namespace
        self.payload = payload
        self.seal = seal
    }

    /// The payload that a manifest's literal stands for, not yet sealed.
    package func payload(of literal: String) throws(PropertyMistake) -> [UInt8] {
        switch payload {
        case .none:
            guard ["on", "true"].contains(literal) else {
                throw PropertyMistake("`\(name)` takes no value", hint: "write `\(name): on`")
            }
            return []
        case .boolean:
            switch literal {
            case "on", "true": return [1]
            case "off", "false": return [0]
            default:
                throw PropertyMistake("`\(name)` is on or off", hint: "write `on` or `off`")
            }
        case .byte:
            guard let byte = UInt8(literal) else {
                throw PropertyMistake(
                    "`\(name)` takes a whole number",
                    hint: "write a number from 0 to 255"
                )
            }
            return [byte]
        case .text(let limit):
            guard !literal.isEmpty, literal.utf8.count <= limit else {
                throw PropertyMistake(
                    "`\(name)` takes 1 to \(limit) bytes of text",
                    hint: "write a shorter one"
                )
            }
            return Array(literal.utf8)
        case .texts:
            let parts = literal.split(separator: ",", omittingEmptySubsequences: true)
            guard !parts.isEmpty, literal.utf8.count <= 250 else {
                throw PropertyMistake(
                    "`\(name)` takes texts",
                    hint: "write them with commas between"
                )
            }
            return Array(parts.joined(separator: "\u{1F}").utf8)
        case .states(let states):
            guard let state = states.first(where: { $0.name == literal }) else {
                throw PropertyMistake(
                    "`\(name)` has no such state",
                    hint: "it has " + states.map { "`\($0.name)`" }.joined(separator: ", ")
                )
            }
            return [UInt8(truncatingIfNeeded: state.raw)]
        }
    }
}

/// A part of a module whose firmware can be updated.
package struct FirmwareTarget: Sendable, Hashable {
    package enum Part: String, CaseIterable, Sendable, Hashable {
        case primary, secondary, bootloader
        case external1 = "external-1"
        case external2 = "external-2"
        /// The one image of a module that has no more.
        case image
    }

    package enum UpdateProtocol: String, CaseIterable, Sendable, Hashable {
        case secureDFU = "secure-dfu"
        case smp
        /// Its version can be read, and nobody has published how to update it.
        case none

        /// As people call it.
        package var title: String {
            switch self {
            case .secureDFU: "Secure DFU"
            case .smp: "SMP"
            case .none: "nothing that is known"
            }
        }
    }

    /// Where the version of the part is read.
    package enum VersionSource: Sendable, Hashable {
        /// Text of a characteristic of the device information service.
        case information(UInt16)
        /// Bytes of a record, one for each number; or one big-endian number.
        case record(ByteField)
        /// By the update protocol itself.
        case `protocol`
    }

    package let part: Part
    package let `protocol`: UpdateProtocol
    /// What the module is told before an image comes; nil where nothing is told.
    package let selector: UInt8?
    package let version: VersionSource
    /// The hardware that its images must be made for, as their format writes it; nil for any.
    package let chip: String?

    package init(
        part: Part,
        protocol: UpdateProtocol,
        selector: UInt8?,
        version: VersionSource,
        chip: String? = nil
    ) {
        self.part = part
        self.protocol = `protocol`
        self.selector = selector
        self.version = version
        self.chip = chip
    }
}
