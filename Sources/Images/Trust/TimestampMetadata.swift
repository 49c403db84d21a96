import Base

/// The frequently signed document that names the current snapshot.
package struct TimestampMetadata: Sendable, Equatable {
    let envelope: Envelope
    let header: MetadataHeader
    let snapshot: ListedDocument

    package init(_ bytes: [UInt8]) throws(MetadataFault) {
        envelope = try Envelope(bytes)
        header = try MetadataHeader(envelope.signed, of: .timestamp)
        guard envelope.signed["meta"]?.members != nil else { throw .badMember("meta") }
        snapshot = try ListedDocument(envelope.signed["meta"]?["snapshot.json"])
    }
}

/// The document that lists the versions of all targets documents that belong together.
package struct SnapshotMetadata: Sendable, Equatable {
    let envelope: Envelope
    let header: MetadataHeader
    let listed: [ExactText: ListedDocument]

    package init(_ bytes: [UInt8]) throws(MetadataFault) {
        envelope = try Envelope(bytes)
        header = try MetadataHeader(envelope.signed, of: .snapshot)
        guard let members = envelope.signed["meta"]?.members else { throw .badMember("meta") }
        var listed: [ExactText: ListedDocument] = [:]
        for member in members {
            listed[ExactText(member.name)] = try ListedDocument(member.value)
        }
        guard listed[RoleName.targets.listedName] != nil else { throw .badMember("meta") }
        self.listed = listed
    }
}
