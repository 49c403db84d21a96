package import Base

/// A file that a targets role has signed.
package struct TargetFile: Sendable, Equatable {
    let path: ExactText
    package let length: Int64
    package let hashes: FileHashes
    /// The signer's additional data, which TUF does not define.
    package let custom: JSONValue?

    init(_ path: ExactText, _ value: JSONValue) throws(MetadataFault) {
        guard let length = value["length"]?.integer, length >= 0 else { throw .badMember("length") }
        guard let hashes = value["hashes"] else { throw .badMember("hashes") }
        self.path = path
        self.length = length
        self.hashes = try FileHashes(hashes)
        custom = value["custom"]
    }
}

/// The document of a targets role: files, and delegations to other roles.
package struct TargetsMetadata: Sendable, Equatable {
    let envelope: Envelope
    package let header: MetadataHeader
    package let files: [ExactText: TargetFile]
    let delegations: Delegations?

    package init(_ bytes: [UInt8], of role: RoleName) throws(MetadataFault) {
        envelope = try Envelope(bytes)
        header = try MetadataHeader(envelope.signed, of: role)
        guard let members = envelope.signed["targets"]?.members else {
            throw .badMember("targets")
        }
        var files: [ExactText: TargetFile] = [:]
        for member in members {
            let path = ExactText(member.name)
            files[path] = try TargetFile(path, member.value)
        }
        self.files = files
        delegations = try envelope.signed["delegations"].map { (value) throws(MetadataFault) in
            try Delegations(value)
        }
    }
}
