import Commands
import Digests
import Domain
import Glibc
import Trust

/// A bundle in a file, open for reading; every part is checked each time that it is read.
final class BundleFile {
    let path: String
    let index: BundleIndex
    private let descriptor: CInt

    init(_ path: String) throws(CommandError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw CommandError(
                .inputMissing,
                "the bundle '\(path.visible)' cannot be read",
                because: [Descriptor.text(of: errno)]
            )
        }
        let opened = descriptor
        do throws(BundleFault) {
            var status = stat()
            guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                let head = Self.read(opened, 0, BundleIndex.headLength)
            else { throw .noBundle }
            let length = try BundleIndex.indexLength(head)
            guard let bytes = Self.read(opened, Int64(BundleIndex.headLength), length) else {
                throw .badIndex("it ends early")
            }
            index = try BundleIndex(bytes, total: Int64(status.st_size))
        } catch {
            close(opened)
            throw Self.refusal(path, error)
        }
    }

    deinit { close(descriptor) }

    static func refusal(_ path: String, _ fault: BundleFault) -> CommandError {
        CommandError(
            .trust,
            "the bundle '\(path.visible)' cannot be used",
            because: [fault.description],
            hint: "copy it anew from where it was made"
        )
    }

    private static func read(_ descriptor: CInt, _ offset: Int64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let result = bytes[done...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, Int(offset) + done)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return nil }
            done += result
        }
        return bytes
    }

    /// Nil when there is no such part.
    func part(_ name: String) throws(BundleFault) -> [UInt8]? {
        do throws(BundleFault) {
            return try bytes(of: name)
        } catch .noMember { return nil }
    }

    func bytes(of name: String) throws(BundleFault) -> [UInt8] {
        let (offset, member) = try index.place(of: name)
        guard let bytes = Self.read(descriptor, offset, Int(member.size)) else {
            throw .wrongMember(name)
        }
        try member.check(bytes)
        return bytes
    }

    func names(below folder: String) -> [String] {
        index.members.map(\.name).filter { $0.hasPrefix(folder + "/") }
    }
}

/// What goes into a bundle, part by part.
struct BundleParts {
    private(set) var members: [BundleIndex.Member] = []
    private var contents: [String: () throws(CommandError) -> [UInt8]] = [:]

    mutating func add(_ name: String, _ bytes: [UInt8]) {
        add(name, size: Int64(bytes.count), digest: SHA256.digest(of: bytes)) {
            () throws(CommandError) in bytes
        }
    }

    /// A part that is read only when it is written.
    mutating func add(
        _ name: String,
        size: Int64,
        digest: SHA256Digest,
        _ read: @escaping () throws(CommandError) -> [UInt8]
    ) {
        guard contents[name] == nil else { return }
        members.append(BundleIndex.Member(name: name, size: size, digest: digest))
        contents[name] = read
    }

    /// The file gets its name when all of it is on the disk.
    func write(to path: String, created: WallTime) throws(CommandError) {
        let head: (bytes: [UInt8], members: [BundleIndex.Member])
        do throws(BundleFault) {
            head = try BundleIndex.head(of: members, created: created)
        } catch { throw BundleFile.refusal(path, error) }
        let fresh = path + ".part"
        unlink(fresh)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw Self.failure(.cannotCreate, path, errno) }
        defer {
            close(descriptor)
            unlink(fresh)
        }
        if let code = Descriptor.write(head.bytes, to: descriptor) {
            throw Self.failure(.cannotWrite, path, code)
        }
        for member in head.members {
            let bytes = try contents[member.name]?() ?? []
            do throws(BundleFault) {
                try member.check(bytes)
            } catch { throw BundleFile.refusal(path, error) }
            if let code = Descriptor.write(bytes, to: descriptor) {
                throw Self.failure(.cannotWrite, path, code)
            }
        }
        guard fsync(descriptor) == 0, rename(fresh, path) == 0 else {
            throw Self.failure(.cannotWrite, path, errno)
        }
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
