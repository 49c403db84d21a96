import Base
package import Commands
import Glibc
import Images

/// A copy of a bundle in the making; verified parts of an earlier attempt are kept.
package struct BundleCopy: ~Copyable {
    private let bundle: BundleFile
    private let path: String
    private let descriptor: CInt
    /// The number of bytes from the beginning that are known to be right.
    private var end: Int64 = 0
    private var rest: ArraySlice<BundleIndex.Member>
    package let size: Int64

    private var draft: String { path + ".part" }

    package init(of bundle: BundleFile, to path: String) throws(CommandError) {
        self.bundle = bundle
        self.path = path
        rest = bundle.index.members[...]
        size = Int64(bundle.beginning.count) + bundle.index.length
        let (opened, code) = Self.opened(path + ".part")
        descriptor = opened
        guard descriptor >= 0 else { throw Self.failure(.cannotCreate, path, code) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(.busy, "another process copies to '\(path.visible)'")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The draft, or a negative number and the reason.
    private static func opened(_ path: String) -> (CInt, CInt) {
        do throws(FileFault) {
            return (try FilePlace.open(path, O_RDWR | O_CREAT, mode: 0o644), 0)
        } catch { return (-1, error.code) }
    }

    /// Reads an existing draft; returns how many bytes of it are right.
    package mutating func takeUp(_ progress: (Int64, Int64) -> Void) throws(CommandError) -> Int64 {
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

    /// Copies the missing parts; each is verified before it is written.
    package mutating func bringRest(_ progress: (Int64, Int64) -> Void) throws(CommandError) {
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
    package func publish() throws(CommandError) {
        do throws(FileFault) { try FilePlace.rename(draft, to: path) } catch {
            throw Self.failure(.cannotCreate, path, error.code)
        }
        Draft.sync(folderOf: path)
    }

    /// Copies the signatures beside the bundle to the place beside the copy.
    package func copySignatures() throws(CommandError) {
        let folder = FilePlace.folder(of: bundle.path)
        let mark = Self.name(of: bundle.path) + "."
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
                "the signatures of '\(bundle.path.visible)' cannot be copied",
                because: [error.description]
            )
        }
    }

    private static func put(_ bytes: [UInt8], at path: String) throws(StorageError) {
        let folder = try TrustFolder(FilePlace.folder(of: path), isHeld: false)
        let name = name(of: path)
        try folder.write(name + ".part", bytes)
        try folder.sync(name + ".part")
        try folder.rename(name + ".part", to: name)
    }

    /// The last component of a path.
    package static func name(of path: String) -> String {
        String(decoding: path.utf8.split(separator: 0x2F).last ?? "bundle".utf8[...], as: UTF8.self)
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
