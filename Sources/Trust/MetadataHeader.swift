package import Domain
import Wire

/// What every signed document begins with.
package struct MetadataHeader: Sendable, Equatable {
    package let version: Int64
    package let expires: WallTime

    /// Checks that the document is of the role asked for and of a specification that we read.
    init(_ signed: JSONValue, of role: RoleName) throws(MetadataFault) {
        guard let type = signed["_type"]?.string else { throw .badMember("_type") }
        guard type.utf8.elementsEqual(role.type.utf8) else { throw .wrongType(found: type) }
        guard let specification = signed["spec_version"]?.string else {
            throw .badMember("spec_version")
        }
        guard Self.isKnown(specification) else { throw .unknownSpecification(specification) }
        guard let version = signed["version"]?.integer, version > 0 else {
            throw .badMember("version")
        }
        guard let text = signed["expires"]?.string else { throw .badMember("expires") }
        guard let expires = WallTime(metadata: text) else { throw .badTime(text) }
        self.version = version
        self.expires = expires
    }

    /// Two or three numbers of which the first is 1: real repositories write `1.0` too.
    private static func isKnown(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].elementsEqual("1".utf8) else { return false }
        return parts.allSatisfy { part in
            (1...6).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
