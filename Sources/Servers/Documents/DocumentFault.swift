package import Base

/// Why a document of a server is not used.
package enum DocumentFault: Error, Sendable, Equatable {
    case notJSON(JSONError)
    /// A member that is missing, or is not what it has to be.
    case wrong(String)
    case tooMany(String, limit: Int)
    /// A link to another host, or to something else than its name says.
    case strayLink(String)
    /// The document is about another action than the one that was asked for.
    case otherAction(ActionID)
}

extension DocumentFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let error): "it is no JSON: \(error)"
        case .wrong(let member): "`\(member.visible)` is missing or wrong"
        case .tooMany(let member, let limit): "`\(member)` has more than \(limit) entries"
        case .strayLink(let name): "the link `\(name)` leads somewhere else"
        case .otherAction(let action): "it is about the action \(action)"
        }
    }
}

/// The id of an action at its server.
package struct ActionID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil unless the text has 1 to 64 letters, digits, `-` and `_`: it becomes a part of addresses.
    package init?(_ text: some StringProtocol) {
        let isWord = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isWord, (1...64).contains(text.utf8.count) else { return nil }
        self.text = String(text)
    }

    package var description: String { text }
}

extension JSONValue {
    /// The document in these bytes.
    static func document(_ bytes: [UInt8]) throws(DocumentFault) -> JSONValue {
        do throws(JSONError) { return try JSONValue(json: bytes) } catch { throw .notJSON(error) }
    }

    /// A text of a server: at most 256 bytes, all of them seen; nil where there is none.
    func text(_ name: String) throws(DocumentFault) -> String? {
        guard let value = self[name], value != .null else { return nil }
        guard let text = value.string, text.utf8.count <= 256, text.visible == text else {
            throw .wrong(name)
        }
        return text
    }

    func list(_ name: String, limit: Int) throws(DocumentFault) -> [JSONValue] {
        guard let list = self[name]?.array else { throw .wrong(name) }
        guard list.count <= limit else { throw .tooMany(name, limit: limit) }
        return list
    }
}
