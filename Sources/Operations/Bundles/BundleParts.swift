import Base
import Commands
import Glibc
import Images

/// The parts of a bundle in the making.
struct BundleParts {
    private(set) var members: [BundleIndex.Member] = []
    private var contents: [ExactText: () throws(CommandError) -> [UInt8]] = [:]

    init() {}

    mutating func add(_ name: String, _ bytes: [UInt8]) {
        add(name, size: Int64(bytes.count), digest: SHA256.digest(of: bytes)) {
            () throws(CommandError) in bytes
        }
    }

    /// Adds a part that is read only when it is written.
    mutating func add(
        _ name: String,
        size: Int64,
        digest: SHA256Digest,
        isHeld: Bool = false,
        _ read: @escaping () throws(CommandError) -> [UInt8]
    ) {
        guard contents[ExactText(name)] == nil else { return }
        members.append(BundleIndex.Member(name: name, size: size, digest: digest, isHeld: isHeld))
        contents[ExactText(name)] = read
    }

    /// Writes the bundle; the file gets its name when all of it is on disk.
    ///
    /// `base` is the bundle that contains the parts which this one only names.
    func write(
        to path: String,
        created: WallTime,
        base: BundleIndex? = nil
    ) throws(CommandError) {
        let head: (bytes: [UInt8], members: [BundleIndex.Member])
        do throws(BundleFault) {
            head = try BundleIndex.head(of: members, created: created, base: base?.digest)
        } catch { throw BundleFile.refusal(path, error) }
        let draft: Draft
        switch Draft.begin(for: path, mode: 0o644) {
        case .success(let begun): draft = begun
        case .failure(let fault): throw Self.failure(.cannotCreate, path, fault.code)
        }
        if let code = Descriptor.write(head.bytes, to: draft.descriptor) {
            throw Self.failure(.cannotWrite, path, code)
        }
        for member in head.members where !member.isHeld {
            let bytes = try contents[ExactText(member.name)]?() ?? []
            do throws(BundleFault) {
                try member.check(bytes)
            } catch { throw BundleFile.refusal(path, error) }
            if let code = Descriptor.write(bytes, to: draft.descriptor) {
                throw Self.failure(.cannotWrite, path, code)
            }
        }
        if let code = draft.publish() { throw Self.failure(.cannotWrite, path, code) }
    }

    private static func failure(
        _ kind: CommandError.Kind,
        _ path: String,
        _ code: CInt
    ) -> CommandError {
        CommandError(
            kind,
            "the bundle '\(path.visible)' cannot be written",
            because: [Descriptor.text(of: code)]
        )
    }
}
