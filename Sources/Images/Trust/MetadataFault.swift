package import Base

/// Why bytes are not a metadata document.
package enum MetadataFault: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    /// A number with a fraction or exponent has no canonical form.
    case notCanonical
    /// A member is missing, or has a wrong type or value.
    case badMember(String)
    case wrongType(found: String)
    case unknownSpecification(String)
    case duplicateSignature(ExactText)
    case duplicateKeyID(ExactText)
    case badThreshold
    case badTime(String)
    case duplicateRole(ExactText)
    case forbiddenRole(ExactText)

    package var description: String {
        switch self {
        case .notJSON(let error): "it is no JSON: \(error.description.visible)"
        case .notCanonical: "it holds a number that is no integer"
        case .badMember(let name): "its member '\(name.visible)' is missing or wrong"
        case .wrongType(let found): "it is a document of type '\(found.visible)'"
        case .unknownSpecification(let version):
            "it is written for version '\(version.visible)' of the specification, not for 1"
        case .duplicateSignature(let id): "it is signed twice under the key id \(id)"
        case .duplicateKeyID(let id): "it names the key id \(id) twice in one role"
        case .badThreshold: "it requires fewer than one signature"
        case .badTime(let text): "'\(text.visible)' is no time such as 2026-11-21T03:36:05Z"
        case .duplicateRole(let name): "it delegates to '\(name)' twice"
        case .forbiddenRole(let name): "it delegates to '\(name)', which is no name for that"
        }
    }
}
