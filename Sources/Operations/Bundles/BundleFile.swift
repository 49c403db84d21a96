import Base
package import Commands
import Glibc
package import Images

/// The signatures that a bundle must have before its content is used.
package struct BundleDemand: Sendable {
    package struct Key: Sendable {
        /// The name as given on the command line, for messages.
        let name: String
        let key: MinisignKey

        package init(name: String, key: MinisignKey) {
            self.name = name
            self.key = key
        }
    }

    let keys: [Key]
    /// The number of these keys that must have signed.
    let threshold: Int

    package init(_ keys: [Key], threshold: Int? = nil) {
        // A key that is given twice is one signer.
        var seen: Set<MinisignKey> = []
        self.keys = keys.filter { seen.insert($0.key).inserted }
        self.threshold = threshold ?? self.keys.count
    }
}

/// A bundle in a file that is opened once; every part is checked whenever it is read.
///
/// When signatures are demanded, the index is read from exactly the bytes that were verified, and
/// each part must match that index: so a change of the file meanwhile is noticed.
package final class BundleFile: Sendable {
    let path: String
    package let index: BundleIndex
    /// Those of the demanded keys that signed the whole file.
    let signers: [MinisignKey]
    private let descriptor: CInt
    /// The bytes before the parts, exactly as in the file.
    let beginning: [UInt8]

    package init(
        _ path: String,
        signedBy demand: BundleDemand? = nil,
        progress: (Int64, Int64) -> Void = { _, _ in }
    ) throws(CommandError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw CommandError(
                .inputMissing,
                "the bundle '\(path.visible)' cannot be read",
                because: [String(cString: strerror(errno))]
            )
        }
        let opened = descriptor
        do throws(CommandError) {
            let beginning: [UInt8]
            let size = try Self.size(of: opened, path)
            if let demand {
                let survey = try BundleSurvey(path, opened, size, demand, progress: progress)
                signers = survey.signers
                beginning = survey.beginning
            } else {
                signers = []
                beginning = Self.beginning(of: opened)
            }
            do throws(BundleFault) {
                let length = try BundleIndex.indexLength(beginning)
                guard beginning.count >= BundleIndex.headLength + length else {
                    throw .badIndex("it ends early")
                }
                let list = beginning[BundleIndex.headLength..<BundleIndex.headLength + length]
                index = try BundleIndex(Array(list), total: size)
                self.beginning = Array(beginning.prefix(BundleIndex.headLength + length))
            } catch { throw Self.refusal(path, error) }
        } catch {
            close(opened)
            throw error
        }
    }

    deinit { close(descriptor) }

    package static func refusal(_ path: String, _ fault: BundleFault) -> CommandError {
        CommandError(
            .trust,
            "the bundle '\(path.visible)' cannot be used",
            because: [fault.description],
            hint: fault.isDamage
                ? "copy it again from its source" : "make it again with 'bundle create'"
        )
    }

    private static func size(of descriptor: CInt, _ path: String) throws(CommandError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refusal(path, .noBundle)
        }
        return Int64(status.st_size)
    }

    /// The bytes before the parts, as far as they are present.
    private static func beginning(of descriptor: CInt) -> [UInt8] {
        guard let head = read(descriptor, 0, BundleIndex.headLength),
            let length = try? BundleIndex.indexLength(head)
        else { return read(descriptor, 0, BundleIndex.headLength) ?? [] }
        return head + (read(descriptor, Int64(BundleIndex.headLength), length) ?? [])
    }

    /// `count` bytes from this offset; nil when there are fewer.
    static func read(
        _ descriptor: CInt,
        _ offset: Int64,
        _ count: Int
    ) -> [UInt8]? {
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

    /// Nil when the bundle has no such part.
    func part(_ name: String) throws(BundleFault) -> [UInt8]? {
        do throws(BundleFault) {
            return try bytes(of: name)
        } catch .noMember { return nil }
    }

    func bytes(of name: String) throws(BundleFault) -> [UInt8] {
        let (offset, member) = try index.place(of: name)
        guard !member.isHeld else { throw .noMember(name) }
        guard let bytes = Self.read(descriptor, offset, Int(member.size)) else {
            throw .wrongMember(name)
        }
        try member.check(bytes)
        return bytes
    }

    func names(below folder: String) -> [String] {
        index.members.map(\.name).filter { $0.utf8.starts(with: "\(folder)/".utf8) }
    }

    /// Reads and checks every part once.
    package func checkAll(progress: (Int64, Int64) -> Void = { _, _ in }) throws(BundleFault) {
        let total = index.length
        var done: Int64 = 0
        for member in index.members where !member.isHeld {
            _ = try bytes(of: member.name)
            done += member.size
            progress(done, total)
        }
    }
}

/// One pass over all bytes of a bundle, which verifies the signatures beside it.
private struct BundleSurvey {
    /// A signature of the older form covers the bytes themselves, which must then be in memory.
    private static let mostInMemory: Int64 = 256 << 20

    let beginning: [UInt8]
    let signers: [MinisignKey]

    init(
        _ path: String,
        _ descriptor: CInt,
        _ size: Int64,
        _ demand: BundleDemand,
        progress: (Int64, Int64) -> Void
    ) throws(CommandError) {
        let found = demand.keys.map { (key: $0, signatures: Self.signatures(of: path, by: $0.key)) }
        guard found.contains(where: { !$0.signatures.isEmpty }) else {
            throw CommandError(
                .trust,
                "the bundle '\(path.visible)' is not signed",
                because: ["there is no signature \(path.visible).minisig"],
                hint: "copy the signature with the bundle"
            )
        }
        let needsAll = found.contains { $0.signatures.contains { !$0.isPrehashed } }
        guard !needsAll || size <= Self.mostInMemory else {
            throw CommandError(
                .trust,
                "the bundle '\(path.visible)' cannot be verified",
                because: ["its signature is of minisign's older form, for which it is too large"],
                hint: "sign it again with a newer minisign"
            )
        }
        var hash = SignedBytes(keepsAll: needsAll)
        var beginning: [UInt8] = []
        var wanted = BundleIndex.headLength
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(1 << 20, size - offset))
            guard let piece = BundleFile.read(descriptor, offset, count) else {
                throw BundleFile.refusal(path, .wrongLength(expected: size, found: offset))
            }
            hash.take(piece)
            if beginning.count < wanted {
                beginning += piece
                if beginning.count >= BundleIndex.headLength,
                    let length = try? BundleIndex.indexLength(beginning)
                {
                    wanted = BundleIndex.headLength + length
                }
            }
            offset += Int64(count)
            progress(offset, size)
        }
        self.beginning = beginning
        let (signers, causes) = Self.signers(of: hash.finish(), found)
        self.signers = signers
        guard signers.count >= demand.threshold else {
            throw CommandError(
                .trust,
                "the bundle '\(path.visible)' is signed by \(signers.count) of "
                    + "\(demand.keys.count) keys, \(demand.threshold) must sign",
                because: causes
            )
        }
    }

    /// The keys that signed, and why the others have not.
    private static func signers(
        of signed: SignedBytes.Taken,
        _ found: [(key: BundleDemand.Key, signatures: [MinisignSignature])]
    ) -> (signers: [MinisignKey], causes: [String]) {
        var causes: [String] = []
        var signers: [MinisignKey] = []
        for (given, signatures) in found {
            var fault: MinisignError?
            var isSigned = false
            for signature in signatures where !isSigned {
                do throws(MinisignError) {
                    try signature.verify(signed, by: given.key)
                    isSigned = true
                } catch { fault = error }
            }
            if isSigned {
                signers.append(given.key)
            } else {
                let why = fault?.description ?? "it has not signed the bundle"
                causes.append("the key '\(given.name.visible)': \(why)")
            }
        }
        return (signers, causes)
    }

    /// The signatures beside a bundle that may be by this key: `BUNDLE.KEYID.minisig` or
    /// `BUNDLE.minisig`.
    private static func signatures(of path: String, by key: MinisignKey) -> [MinisignSignature] {
        ["\(path).\(key).minisig", "\(path).minisig"].compactMap { name in
            let limit = Int(MinisignSignature.longest)
            let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_size <= limit,
                let text = BundleFile.read(descriptor, 0, Int(status.st_size))
            else { return nil }
            return try? MinisignSignature(text)
        }
    }
}
