package import Base

/// Why a genuine image is nevertheless refused for the use in the manifest.
package enum PolicyRefusal: Error, Equatable, Sendable {
    case notUnderstood(StatementFault)
    case wrongHardware(signed: [HardwareID], wanted: HardwareID)
    case wrongVersion(signed: FirmwareVersion, wanted: FirmwareVersion)
    case olderRelease(counter: Int64, seen: Int64, hardware: HardwareID)
    case uncounted(seen: Int64, hardware: HardwareID)
    case expired(WallTime)
    case denied(SHA256Digest)
    case notAllowed(SHA256Digest)
    /// The repository's target is a file other than the one that the manifest pins.
    case otherFile(listed: SHA256Digest, pinned: SHA256Digest)
    /// The repository lists no SHA-256 for it, so it cannot be compared with the pinned one.
    case noDigest
    /// The record of trusted releases cannot be read, so it is unknown whether this one is newer.
    case noLedger(String)
}

extension PolicyRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notUnderstood(let fault): return fault.description
        case .wrongHardware(let signed, let wanted):
            let list = signed.map(\.description).sorted().joined(separator: ", ")
            return "it is signed for \(list), the manifest would put it on \(wanted)"
        case .wrongVersion(let signed, let wanted):
            return "it is signed as version \(signed), the manifest says \(wanted)"
        case .olderRelease(let counter, let seen, let hardware):
            return "it is release \(counter), and release \(seen) was trusted for \(hardware) "
                + "before: an older release is not taken back"
        case .uncounted(let seen, let hardware):
            return "its release is not counted, and release \(seen) was trusted for \(hardware) "
                + "before"
        case .expired(let time): return "its release expired at \(time)"
        case .denied(let digest): return "its SHA-256 \(digest) is on the list of those denied"
        case .notAllowed(let digest):
            return "its SHA-256 \(digest) is not on the list of those allowed"
        case .otherFile(let listed, let pinned):
            return "the repository lists SHA-256 \(listed), the manifest pins \(pinned)"
        case .noDigest: return "the repository lists no SHA-256 for it"
        case .noLedger(let name): return "the record of trusted releases, \(name), is damaged"
        }
    }
}

/// The lists that allow or deny single images, no matter who signed them.
package struct ReleaseLists: Sendable, Equatable {
    /// When it is empty, all images are allowed that are not denied.
    let allowed: Set<SHA256Digest>
    let denied: Set<SHA256Digest>

    package init(allowed: Set<SHA256Digest> = [], denied: Set<SHA256Digest> = []) {
        self.allowed = allowed
        self.denied = denied
    }

    /// Reads the lists in the custom data of a repository's top-level targets role.
    package init(_ targets: TargetsMetadata) throws(StatementFault) {
        let said = targets.envelope.signed["custom"]?["yardmaster"]
        allowed = try Self.digests(said, "allow")
        denied = try Self.digests(said, "deny")
        // An empty list would allow nothing, which is surely a mistake.
        if said?["allow"] != nil, allowed.isEmpty { throw StatementFault(member: "allow") }
    }

    private static func digests(
        _ said: JSONValue?,
        _ member: String
    ) throws(StatementFault) -> Set<SHA256Digest> {
        guard let given = said?[member] else { return [] }
        guard let list = given.array else { throw StatementFault(member: member) }
        var digests: Set<SHA256Digest> = []
        for element in list {
            guard let digest = element.string.flatMap({ SHA256Digest($0) }) else {
                throw StatementFault(member: member)
            }
            digests.insert(digest)
        }
        return digests
    }

    package func check(_ digest: SHA256Digest) throws(PolicyRefusal) {
        guard !denied.contains(digest) else { throw .denied(digest) }
        guard allowed.isEmpty || allowed.contains(digest) else { throw .notAllowed(digest) }
    }
}

extension ReleaseStatement {
    /// Throws unless the signer's statement, the lists and the earlier releases allow the use of
    /// the image.
    package func check(
        _ claim: ReleaseClaim,
        lists: ReleaseLists,
        ledger: ReleaseLedger,
        now: WallTime,
        grace: Duration
    ) throws(PolicyRefusal) {
        try lists.check(claim.digest)
        if !hardware.isEmpty, !hardware.contains(where: { $0.covers(claim.hardware) }) {
            throw .wrongHardware(signed: hardware, wanted: claim.hardware)
        }
        if let version, version != claim.version {
            throw .wrongVersion(signed: version, wanted: claim.version)
        }
        if let expires, expires.advanced(by: grace) <= now { throw .expired(expires) }
        for line in ledger.lines where line.hardware.overlaps(claim.hardware) {
            guard let counter else {
                throw .uncounted(seen: line.counter, hardware: line.hardware)
            }
            guard counter >= line.counter || line.predecessor == claim.version else {
                throw .olderRelease(
                    counter: counter,
                    seen: line.counter,
                    hardware: line.hardware
                )
            }
        }
    }
}
