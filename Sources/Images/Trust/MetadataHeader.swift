import Base

/// The common members of every signed document.
package struct MetadataHeader: Sendable, Equatable {
    package let version: Int64
    let expires: WallTime

    /// Checks that the document is of the expected role and of a known version of the
    /// specification.
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

    /// Two or three numbers, the first of which is 1: some real repositories write `1.0`.
    private static func isKnown(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].elementsEqual("1".utf8) else { return false }
        return parts.allSatisfy { part in
            (1...6).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
