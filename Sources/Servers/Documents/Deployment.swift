package import Base

/// An action of a server: which software one controller is to have.
package struct Deployment: Sendable, Equatable {
    /// How urgent a part of the work is.
    package enum Handling: String, CaseIterable, Sendable {
        case skip, attempt, forced
    }

    /// A file that belongs to a software module.
    package struct Artifact: Sendable, Equatable {
        package let file: String
        package let size: ByteCount
        /// What the server says of its bytes: this protects the transport and nothing else.
        package let digests: ArtifactDigests
        package let address: String
    }

    /// One piece of software with its files.
    package struct Module: Sendable, Equatable {
        package let part: String
        package let name: String
        package let version: String
        package let artifacts: [Artifact]
    }

    package let action: ActionID
    package let download: Handling
    package let update: Handling
    /// Whether the server has a maintenance window for it that is not open.
    package let isClosed: Bool
    package let modules: [Module]

    /// Whether the work is to be done now.
    package var isWanted: Bool { update != .skip && !isClosed }

    /// Whether the server wants the files to be fetched, and nothing else.
    package var isDownloadOnly: Bool { update == .skip && download != .skip && !isClosed }

    private static let mostModules = 64
    private static let mostArtifacts = 64

    /// `member` is `confirmation` for an action that waits for one.
    package init(
        _ bytes: [UInt8],
        of asked: ActionID,
        in member: String = "deployment"
    ) throws(DocumentFault) {
        let json = try JSONValue.document(bytes)
        guard let id = json["id"] else { throw .wrong("id") }
        let text = id.string ?? id.integer.map { "\($0)" } ?? ""
        guard let action = ActionID(text) else { throw .wrong("id") }
        guard action == asked else { throw .otherAction(action) }
        guard let body = json[member] else { throw .wrong(member) }
        func handling(_ name: String) throws(DocumentFault) -> Handling {
            guard let word = try body.text(name), let handling = Handling(rawValue: word) else {
                throw .wrong(name)
            }
            return handling
        }
        self.action = action
        download = try handling("download")
        update = try handling("update")
        switch try body.text("maintenanceWindow") {
        case nil, "available": isClosed = false
        case "unavailable": isClosed = true
        default: throw .wrong("maintenanceWindow")
        }
        var modules: [Module] = []
        for chunk in try body.list("chunks", limit: Self.mostModules) {
            modules.append(try Self.module(chunk))
        }
        self.modules = modules
    }

    private static func module(_ json: JSONValue) throws(DocumentFault) -> Module {
        guard let name = try json.text("name"), let version = try json.text("version") else {
            throw .wrong("chunks")
        }
        var artifacts: [Artifact] = []
        for artifact in try json.list("artifacts", limit: mostArtifacts) {
            artifacts.append(try self.artifact(artifact))
        }
        return Module(
            part: try json.text("part") ?? "",
            name: name,
            version: version,
            artifacts: artifacts
        )
    }

    private static func artifact(_ json: JSONValue) throws(DocumentFault) -> Artifact {
        guard let file = try json.text("filename"), !file.isEmpty else { throw .wrong("filename") }
        guard let number = json["size"]?.integer, number > 0,
            let size = ByteCount(bytes: Int(number))
        else { throw .wrong("size") }
        guard let hashes = json["hashes"], let digests = try ArtifactDigests(hashes) else {
            throw .wrong("hashes")
        }
        // The encrypted address, if there are both.
        let links = json["_links"]
        let link = links?["download"] ?? links?["download-http"]
        guard let address = link?["href"]?.string, address.utf8.count <= 2_048 else {
            throw .wrong("download")
        }
        return Artifact(file: file, size: size, digests: digests, address: address)
    }

    /// The digest of what is demanded: it changes when the server changes the action under its id.
    ///
    /// Addresses and urgency do not count.
    package var demand: SHA256Digest {
        let parts = modules.map { module -> JSONValue in
            .array([
                .string(module.part), .string(module.name), .string(module.version),
                .array(
                    module.artifacts.map { artifact in
                        .array([.string(artifact.file), .string(artifact.identity)])
                    }
                ),
            ])
        }
        return SHA256.digest(of: Array(JSONValue.array(parts).text.utf8))
    }
}

extension Deployment.Artifact {
    /// What is known of its bytes, by which a file that is here already is recognised.
    package var identity: String { "\(size.bytes) \(digests.text)" }
}

/// The digests that a server names for a file.
package struct ArtifactDigests: Sendable, Equatable {
    package let sha256: SHA256Digest?
    package let sha1: [UInt8]?

    /// Nil without one that is understood: MD5 alone does not recognise a damaged file.
    init?(_ json: JSONValue) throws(DocumentFault) {
        let long = try json.text("sha256")
        let short = try json.text("sha1")
        sha256 = long.flatMap { SHA256Digest($0) }
        sha1 = short.flatMap { Hex.bytes($0) }
        guard (long == nil) == (sha256 == nil), (short == nil) == (sha1 == nil),
            sha1.map({ $0.count == 20 }) ?? true
        else { throw .wrong("hashes") }
        if sha256 == nil, sha1 == nil { return nil }
    }

    package var text: String { sha256?.description ?? Hex.text(sha1 ?? []) }

    /// Whether all of them are those of these bytes.
    package func match(_ bytes: [UInt8]) -> Bool {
        (sha256.map { $0 == SHA256.digest(of: bytes) } ?? true)
            && (sha1.map { $0 == SHA1.digest(of: bytes) } ?? true)
    }
}
