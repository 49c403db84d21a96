package import Base

/// A part of a signer's statement about a release that cannot be parsed: then the release is
/// refused.
package struct StatementFault: Error, Equatable, Sendable, CustomStringConvertible {
    let member: String

    package var description: String { "its signed '\(member.visible)' cannot be understood" }
}

/// The signer's statement about an image, besides that it is genuine.
package struct ReleaseStatement: Sendable, Equatable {
    /// The modules that it is made for; empty when the statement does not contain them.
    let hardware: [HardwareID]
    /// Rises with every release; nil when the signer does not count releases.
    let counter: Int64?
    let version: FirmwareVersion?
    /// The version that a module must run, or a newer one, before it may have this release.
    package let predecessor: FirmwareVersion?
    package let expires: WallTime?

    /// A statement without any content.
    package static let silent = ReleaseStatement()

    private init() {
        hardware = []
        counter = nil
        version = nil
        predecessor = nil
        expires = nil
    }

    /// Reads the member `yardmaster` of a target's custom data; without it the statement is empty.
    package init(custom: JSONValue?) throws(StatementFault) {
        guard let said = custom?["yardmaster"] else {
            self = .silent
            return
        }
        guard said.members != nil else { throw StatementFault(member: "yardmaster") }
        var ids: [HardwareID] = []
        if let given = said["hardware"] {
            guard let list = given.array, !list.isEmpty else {
                throw StatementFault(member: "hardware")
            }
            for element in list {
                guard let id = element.string.flatMap({ HardwareID($0) }) else {
                    throw StatementFault(member: "hardware")
                }
                ids.append(id)
            }
        }
        hardware = ids
        counter = try Self.read(said, "counter") { value in
            value.integer.flatMap { $0 >= 0 ? $0 : nil }
        }
        version = try Self.read(said, "version") { $0.string.flatMap { FirmwareVersion($0) } }
        predecessor = try Self.read(said, "predecessor") {
            $0.string.flatMap { FirmwareVersion($0) }
        }
        expires = try Self.read(said, "expires") { $0.string.flatMap { WallTime(metadata: $0) } }
    }

    private static func read<Value>(
        _ said: JSONValue,
        _ member: String,
        _ read: (JSONValue) -> Value?
    ) throws(StatementFault) -> Value? {
        guard let given = said[member] else { return nil }
        guard let value = read(given) else { throw StatementFault(member: member) }
        return value
    }

    /// Reads the words of a trusted comment: `hardware:comodule-17,comodule-18 counter:5`.
    ///
    /// Words are separated by spaces or tabs; unknown words are skipped.
    package init(comment: String) throws(StatementFault) {
        var members: [JSONMember] = []
        var seen: Set<String> = []
        for word in comment.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) {
            guard let colon = word.firstIndex(of: 0x3A) else { continue }
            let name = String(decoding: word[..<colon], as: UTF8.self)
            let text = String(decoding: word[word.index(after: colon)...], as: UTF8.self)
            let value: JSONValue
            switch name {
            case "hardware":
                value = .array(
                    text.split(separator: ",", omittingEmptySubsequences: false)
                        .map { .string(String($0)) }
                )
            case "counter":
                value = Int64(text).map { .integer($0) } ?? .null
            case "version", "predecessor", "expires": value = .string(text)
            default: continue
            }
            guard seen.insert(name).inserted else { throw StatementFault(member: name) }
            members.append(JSONMember(name, value))
        }
        let said: JSONValue? = members.isEmpty ? nil : .object(members)
        try self.init(custom: said.map { .object([JSONMember("yardmaster", $0)]) })
    }
}
