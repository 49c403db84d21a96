import Base

/// A message that a module understands in addition to its properties.
package struct FeatureSpec: Sendable, Hashable {
    package enum Payload: Sendable, Hashable {
        case none
        /// `on`, `off`, `true` or `false`.
        case boolean
        /// A number of one byte; `off` stands for an empty payload where that is allowed.
        case byte(mayBeOff: Bool)
        /// Text of at most `limit` characters; longer text is rejected, or cut.
        case text(limit: Int, isCut: Bool)
        /// Several texts, separated by the byte 1F.
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

    /// The longest payload of a message, in bytes.
    private static let longest = 250

    package let name: String
    package let command: UInt8
    package let namespace: UInt8
    package let payload: Payload
    package let seal: Seal
    /// One-byte answers with which the module reports that it did not carry out the command.
    package let refusals: Set<UInt8>

    package init(
        name: String,
        command: UInt8,
        namespace: UInt8,
        payload: Payload,
        seal: Seal,
        refusals: Set<UInt8> = [0]
    ) {
        self.name = name
        self.command = command
        self.namespace = namespace
        self.payload = payload
        self.seal = seal
        self.refusals = refusals
    }

    /// The payload that a manifest's literal represents, not yet sealed.
    package func payload(of literal: String) throws(PropertyMistake) -> [UInt8] {
        func mistake(_ what: String, _ hint: String) -> PropertyMistake {
            PropertyMistake("`\(name)` \(what)", hint: hint, concernsValue: true)
        }
        switch payload {
        case .none:
            guard ["on", "true"].contains(literal) else {
                throw mistake("takes no value", "write `\(name): on`")
            }
            return []
        case .boolean:
            switch literal {
            case "on", "true": return [1]
            case "off", "false": return [0]
            default: throw mistake("is on or off", "write `on` or `off`")
            }
        case .byte(let mayBeOff):
            if mayBeOff, literal == "off" || literal == "false" { return [] }
            if let byte = UInt8(literal) { return [byte] }
            let also = mayBeOff ? " or `off`" : ""
            throw mistake("takes a whole number" + also, "write a number from 0 to 255")
        case .text(let limit, let isCut):
            let text = isCut ? String(literal.prefix(limit)) : literal
            guard !text.isEmpty, text.count <= limit, text.utf8.count <= Self.longest else {
                throw mistake("takes 1 to \(limit) characters of text", "write a shorter one")
            }
            return Array(text.utf8)
        case .texts:
            let parts = literal.split(separator: ",", omittingEmptySubsequences: true)
            guard !parts.isEmpty, literal.utf8.count <= 250 else {
                throw mistake("takes texts", "write them with commas between")
            }
            return Array(parts.joined(separator: "\u{1F}").utf8)
        case .states(let states):
            if let state = states.first(where: { $0.name == literal }) {
                return [UInt8(truncatingIfNeeded: state.raw)]
            }
            let known = states.map { "`\($0.name)`" }.joined(separator: ", ")
            throw mistake("has no such state", "it has " + known)
        }
    }
}

/// A part of a module whose firmware can be updated.
package struct FirmwareTarget: Sendable, Hashable {
    package enum Part: String, CaseIterable, Sendable, Hashable {
        case primary, secondary, bootloader
        case external1 = "external-1"
        case external2 = "external-2"
        /// The only image of a module with a single image.
        case image
    }

    /// Where the version of the part is read.
    package enum VersionSource: Sendable, Hashable {
        /// Text of a characteristic of the device information service.
        case information(UInt16)
        /// Bytes of a record, one for each number; or one big-endian number.
        case record(ByteField)
        /// Read through the update protocol.
        case `protocol`
    }

    package let part: Part
    package let `protocol`: UpdateProtocol
    /// The byte that selects this part before an image is sent; nil where none is needed.
    package let selector: UInt8?
    package let version: VersionSource
    /// The hardware that its images must be made for, in the spelling of their format; nil for any.
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
