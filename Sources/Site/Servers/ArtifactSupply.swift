import Base
import Commands
import Images
import Manifest
import Operations
import Servers
import Store

/// Why a file of a server does not become an image.
enum SupplyFault: Error {
    /// It could not be fetched now.
    case later(String)
    /// It must not be used, however often it is fetched.
    case refused(String)

    /// What ends the conversation; a host of files that does not answer would take its time for each vehicle.
    var ending: ServerFault {
        switch self {
        case .later(let why): ServerFault(why, isSilence: true)
        case .refused(let why): ServerFault(why, isSilence: false)
        }
    }
}

/// Brings files of a server into the image store: each once, for however many vehicles.
actor ArtifactSupply {
    /// No module takes an image of that size.
    private static let largest = ByteCount(count: 64 << 20)

    private let server: ServerSettings
    private let line: any ServerLine
    private let state: String
    private let fetcher: ImageFetcher
    private let denied: Set<SHA256Digest>
    /// The images of earlier actions, by the terms under which they were taken.
    private let known: [String: SHA256Digest]
    /// Those that this command has checked.
    private var checked: [String: SHA256Digest] = [:]
    private var refused: [String: String] = [:]
    /// How many files were fetched.
    private(set) var fetched = 0

    init(
        from server: ServerSettings,
        over line: any ServerLine,
        into fetcher: ImageFetcher,
        state: String,
        denying denied: [SHA256Digest],
        known: [String: SHA256Digest]
    ) {
        self.server = server
        self.line = line
        self.fetcher = fetcher
        self.state = state
        self.denied = Set(denied)
        self.known = known
    }

    /// The digest of the image that this file is, or contains.
    func image(
        _ chosen: ChosenArtifact,
        _ terms: ServedImage,
        for controller: String
    ) async throws(SupplyFault) -> SHA256Digest {
        let key = terms.text
        if let why = refused[key] { throw .refused(why) }
        if let digest = checked[key] { return digest }
        do throws(SupplyFault) {
            let stored = try known[key].flatMap { (digest) throws(SupplyFault) in
                try self.stored(digest)
            }
            let bytes: [UInt8]
            if let stored {
                bytes = stored
            } else {
                bytes = try await self.bytes(of: chosen, for: controller)
            }
            let digest = SHA256.digest(of: bytes)
            guard !denied.contains(digest) else { throw .refused("the manifest denies its image") }
            // Also what was taken before: the rules may be stricter now.
            try check(bytes, digest, chosen)
            if stored == nil { try await keep(bytes, digest) }
            checked[key] = digest
            return digest
        } catch {
            if case .refused(let why) = error { refused[key] = why }
            throw error
        }
    }

    /// Its bytes in the store; nil where it was removed since.
    private func stored(_ digest: SHA256Digest) throws(SupplyFault) -> [UInt8]? {
        let folder = StoreFolder(stateDirectory: state)
        guard let request = ImageRequest(name: "image", digest: digest, size: nil) else {
            return nil
        }
        do throws(ImageError) { return try folder.image(request)?.bytes() } catch {
            throw .later("\(error)")
        }
    }

    /// The bytes that go to modules.
    private func bytes(
        of chosen: ChosenArtifact,
        for controller: String
    ) async throws(SupplyFault) -> [UInt8] {
        let artifact = chosen.artifact
        guard artifact.size <= Self.largest else {
            throw .refused(
                "\(artifact.file.visible) has \(artifact.size), and no module takes that"
            )
        }
        guard let address = WebAddress(artifact.address, allowsHTTP: server.allowsHTTP),
            let authority = try? WebAuthority(address.host), server.mayFetch(from: authority)
        else {
            throw .refused(
                "\(artifact.file.visible) is at another host, which `hosts` does not list"
            )
        }
        let isOwn = server.sendsToken(to: artifact.address, at: authority)
        fetched += 1
        switch await line.file(at: address, for: controller, isOwn: isOwn, limit: artifact.size) {
        case .failure(.tooLong), .failure(.webPage):
            throw .refused("\(artifact.file.visible) is longer than the server says")
        case .failure(let error): throw .later("\(artifact.file.visible): \(error)")
        case .success(let bytes):
            guard bytes.count == artifact.size.bytes, artifact.digests.match(bytes) else {
                throw .refused("\(artifact.file.visible) is not what the server says it is")
            }
            guard let member = chosen.rule.member else { return bytes }
            do throws(CpioError) { return try CpioArchive.contents(of: member, in: bytes) } catch {
                throw .refused("\(artifact.file.visible): \(error)")
            }
        }
    }

    /// Refuses what a run would refuse, and what nobody but the server vouches for.
    private func check(
        _ bytes: [UInt8],
        _ digest: SHA256Digest,
        _ chosen: ChosenArtifact
    ) throws(SupplyFault) {
        let planned = PlannedImage(
            name: "image",
            path: chosen.artifact.file,
            digest: digest,
            version: chosen.version,
            for: Family(rawValue: chosen.rule.family)
        )
        do throws(CommandError) { _ = try ImageChecker.content(of: planned, bytes) } catch {
            throw .refused(error.causes.first ?? error.sentence)
        }
        let isSigned = (try? InspectedImage(bytes))?.isSigned ?? false
        guard isSigned || chosen.rule.namesSigner || chosen.rule.trustsTransport else {
            throw .refused(
                "nobody has signed the image: name its signer in \(chosen.rule.place), "
                    + "or write `trust: transport` there"
            )
        }
    }

    private func keep(_ bytes: [UInt8], _ digest: SHA256Digest) async throws(SupplyFault) {
        let path = "\(state)/servers.image"
        if let code = Draft.write(bytes, to: path, mode: 0o600) {
            throw .later("\(path) cannot be written: \(Descriptor.text(of: code))")
        }
        guard
            let request = ImageRequest(
                name: "image",
                digest: digest,
                size: ByteCount(of: bytes)
            )
        else { throw .refused("it is larger than any module takes") }
        do throws(FetchError) {
            _ = try await fetcher.image(request, from: [.file(path)]) { _ in }
        } catch { throw .later("\(error)") }
        // What is left of it is replaced by the next one.
        try? FilePlace(path).remove()
    }
}
