import Commands
import Domain
import Glibc
import Manifest
import Operations
import Trust
import Wire

/// `bundle copy`: a bundle and its signatures to another place, each part verified, to be gone on with.
struct BundleCopyCommand {
    private let source: String
    private let destination: String
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) {
        source = invocation.arguments[0]
        destination = invocation.arguments[1]
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() throws(CommandError) -> ExitCode {
        let bundle = try BundleFile(source)
        var status = stat()
        let isFolder = stat(destination, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let path = isFolder ? "\(destination)/\(Self.name(of: source))" : destination
        var copy = try BundleCopy(of: bundle, to: path)
        let display = BundleDisplay(common, context)
        defer { display.end() }
        let kept = try copy.takeUp { done, total in display.show("verifying", done, total) }
        try copy.bringRest { done, total in display.show("copying", done, total) }
        // Anyone who waits for the bundle finds its signatures there.
        try copySignatures(to: path)
        try copy.publish()
        display.end()
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "bundle": .string(path),
                "size": .integer(copy.size),
                "kept": .integer(kept),
                "exit": .object([
                    "code": .integer(Int64(ExitCode.done.rawValue)),
                    "reason": .string(ExitCode.done.sentence),
                ]),
            ])
            context.console.result(document.text + "\n")
        } else if !common.isQuiet {
            context.console.result(
                "\(path.visible): copied=\(copy.size - kept) kept=\(kept) exit=0\n"
            )
        }
        return .done
    }

    private static func name(of path: String) -> String {
        String(decoding: path.utf8.split(separator: 0x2F).last ?? "bundle".utf8[...], as: UTF8.self)
    }

    private func copySignatures(to path: String) throws(CommandError) {
        let folder = Draft.folder(of: source)
        let mark = Self.name(of: source) + "."
        do throws(StorageError) {
            let names = try TrustFolder(folder, isHeld: false).names()
            for name in names where name.hasPrefix(mark) && name.hasSuffix(".minisig") {
                let ending = name.dropFirst(mark.count)
                let limit = MinisignSignature.longest
                guard let bytes = try TrustFolder(folder, isHeld: false).read(name, limit: limit)
                else { continue }
                try Self.put(bytes, at: "\(path).\(ending)")
            }
        } catch {
            throw CommandError(
                .cannotWrite,
                "the signatures of '\(source.visible)' cannot be copied",
                because: [error.description]
            )
        }
    }

    private static func put(_ bytes: [UInt8], at path: String) throws(StorageError) {
        let folder = try TrustFolder(Draft.folder(of: path), isHeld: false)
        let name = name(of: path)
        try folder.write(name + ".part", bytes)
        try folder.sync(name + ".part")
        try folder.rename(name + ".part", to: name)
    }
}

/// A copy of a bundle in the making: what is right of an earlier attempt stays.
struct BundleCopy: ~Copyable {
    private let bundle: BundleFile
    private let path: String
    private let descriptor: CInt
    /// How many bytes from the beginning on are known to be right.
    private var end: Int64 = 0
    private var rest: ArraySlice<BundleIndex.Member>
    let size: Int64

    private var draft: String { path + ".part" }

    init(of bundle: BundleFile, to path: String) throws(CommandError) {
        self.bundle = bundle
        self.path = path
        rest = bundle.index.members[...]
        size = Int64(bundle.beginning.count) + bundle.index.length
        descriptor = open(path + ".part", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw Self.failure(.cannotCreate, path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(.busy, "another process copies to '\(path.visible)'")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads what is there already; how many bytes of it are right.
    mutating func takeUp(_ progress: (Int64, Int64) -> Void) throws(CommandError) -> Int64 {
        let beginning = bundle.beginning
        guard BundleFile.read(descriptor, 0, beginning.count) == beginning else {
            try cut()
            return 0
        }
        end = Int64(beginning.count)
        while let member = rest.first {
            if !member.isHeld {
                guard let bytes = BundleFile.read(descriptor, end, Int(member.size)),
                    (try? member.check(bytes)) != nil
                else { break }
                end += member.size
            }
            rest = rest.dropFirst()
            progress(end, size)
        }
        try cut()
        return end
    }

    private func cut() throws(CommandError) {
        guard ftruncate(descriptor, Int(end)) == 0, lseek(descriptor, Int(end), SEEK_SET) >= 0
        else { throw Self.failure(.cannotWrite, path, errno) }
    }

    /// Copies what is missing; every part is verified before it is written.
    mutating func bringRest(_ progress: (Int64, Int64) -> Void) throws(CommandError) {
        if end == 0 {
            try write(bundle.beginning)
        }
        while let member = rest.first {
            if !member.isHeld {
                let bytes: [UInt8]
                do throws(BundleFault) {
                    bytes = try bundle.bytes(of: member.name)
                } catch { throw BundleFile.refusal(bundle.path, error) }
                try write(bytes)
            }
            rest = rest.dropFirst()
            progress(end, size)
        }
        guard fsync(descriptor) == 0 else { throw Self.failure(.cannotWrite, path, errno) }
    }

    private mutating func write(_ bytes: [UInt8]) throws(CommandError) {
        if let code = Descriptor.write(bytes, to: descriptor) {
            throw Self.failure(.cannotWrite, path, code)
        }
        end += Int64(bytes.count)
    }

    /// Gives the copy its name.
    func publish() throws(CommandError) {
        guard rename(draft, path) == 0 else { throw Self.failure(.cannotCreate, path, errno) }
        let folder = open(
            Draft.folder(of: path),
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private static func failure(
        _ kind: CommandError.Kind,
        _ path: String,
        _ code: CInt
    ) -> CommandError {
        CommandError(
            kind,
            "the bundle cannot be copied to '\(path.visible)'",
            because: [Descriptor.text(of: code)],
            hint: "what was copied is kept: make room, then give the same command again"
        )
    }
}
