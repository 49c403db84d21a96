package import Base
import Glibc

/// The secrets of one vehicle as files beside each other: `ID.key`, and during a change
/// `ID.key.new`; the previous one stays in `ID.key.before`.
///
/// A file that other vehicles name, too, is read and never replaced: it may open their modules.
///
/// Blocks: call it on a thread of its own.
package struct SecretFiles: Sendable {
    private static let limit = 4_096

    private let file: OutsideFile
    private var path: String { file.path }
    private let maker: Secret?
    /// The other vehicles that name this file.
    private let others: KeySharers

    /// `maker` is the secret from the maker, if it is known.
    package init(_ file: OutsideFile, maker: Secret?, sharedWith others: KeySharers = .none) {
        self.file = file
        self.maker = maker
        self.others = others
    }

    /// The name of the file of a vehicle's own secret, without an ending.
    package static func name(of vehicle: VehicleID) -> String {
        let plain = String(
            decoding: vehicle.text.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
        return plain.hasPrefix(".") ? "_" + plain : plain
    }

    /// The secrets that a copy of these files has, the current one last, each with the ending of
    /// its file.
    ///
    /// A change that an earlier version began here is not continued in the copies: its secret is
    /// one of those that the module could have.
    private func copied() throws(EnrolFault) -> [(ending: String, secret: Secret)] {
        guard let current = try read(file.current()) else {
            throw EnrolFault.file("cannot read", path, ENOENT)
        }
        var further: [Secret] = []
        for ending in [".before", ".new"] {
            guard let secret = try read(file.current(ending)), secret != current else { continue }
            further.append(secret)
        }
        return zip([".before", ".undone"], further).map { ($0, $1) } + [("", current)]
    }

    /// Whether copying to these files would overwrite no other secret.
    package func canBeCopied(to copy: SecretFiles) throws(EnrolFault) -> Bool {
        let secrets = try copied()
        for ending in OutsideFile.endings {
            guard let there = try copy.read(copy.file.current(ending)) else { continue }
            guard secrets.contains(where: { $0.ending == ending && $0.secret == there }) else {
                return false
            }
        }
        return true
    }

    /// Writes a copy, which only its owner can read: the owner of these files.
    package func copy(to copy: SecretFiles) throws(EnrolFault) {
        let secrets = try copied()
        try copy.prepare()
        for (ending, secret) in secrets {
            let target = copy.path + ending
            guard try copy.read(target) != secret else { continue }
            if let code = Draft.write(
                secret.withBytes { $0 },
                to: target,
                mode: 0o600,
                isExact: true,
                ownedAs: file.current()
            ) {
                throw EnrolFault.file("cannot write", target, code)
            }
        }
    }

    /// Where a secret is read.
    private func path(_ slot: SecretSlot) -> String? {
        switch slot {
        case .current: file.current()
        case .pending: file.current(".new")
        case .before: file.current(".before")
        case .undone: file.current(".undone")
        case .maker: nil
        }
    }

    private func prepare() throws(EnrolFault) {
        if let code = file.prepare() { throw EnrolFault.file("cannot write", path, code) }
    }

    package func secrets() throws(EnrolFault) -> [SecretSlot: Secret] {
        var found: [SecretSlot: Secret] = [:]
        for slot in SecretSlot.allCases {
            found[slot] =
                try path(slot).map { (path) throws(EnrolFault) in try read(path) } ?? maker
        }
        return found
    }

    private func requireOwn() throws(EnrolFault) {
        guard others.isEmpty else {
            throw EnrolFault(
                .refused,
                "\(path) is also the key of \(others.text)",
                hint: SharedSecrets.remedy
            )
        }
    }

    package func keepPending(_ secret: Secret) throws(EnrolFault) {
        try requireOwn()
        try prepare()
        // A secret that was read from a file already has its line end.
        let line = secret.withBytes { bytes in
            bytes.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed() + [0x0A]
        }
        try write(line, to: path + ".new")
    }

    package func commit() throws(EnrolFault) {
        try keepBefore()
        try promote()
    }

    /// Gives the current secret a second name, before another one takes its first name.
    package func keepBefore() throws(EnrolFault) {
        try requireOwn()
        try prepare()
        if let old = try read(path) {
            try write(old.withBytes { $0 }, to: path + ".before")
        }
    }

    /// The pending secret takes the name of the current one.
    package func promote() throws(EnrolFault) {
        do throws(FileFault) { try FilePlace.rename(path + ".new", to: path) } catch {
            throw EnrolFault.file("cannot replace", path, error.code)
        }
        Draft.sync(folderOf: path)
    }

    package func retire() throws(EnrolFault) {
        // It stays where the other vehicles name it.
        guard others.isEmpty else { return }
        try prepare()
        try? FilePlace.remove(path + ".new")
        do throws(FileFault) { try FilePlace.rename(path, to: path + ".undone") } catch {
            guard error.code == ENOENT else {
                throw EnrolFault.file("cannot rename", path, error.code)
            }
        }
        Draft.sync(folderOf: path)
    }

    private func write(_ bytes: [UInt8], to file: String) throws(EnrolFault) {
        if let code = Draft.write(bytes, to: file, mode: 0o600, isExact: true, ownedAs: path) {
            throw EnrolFault.file("cannot write", file, code)
        }
    }

    private func read(_ path: String) throws(EnrolFault) -> Secret? {
        let file: CInt
        do throws(FileFault) { file = try FilePlace.open(path, O_RDONLY) } catch {
            if error.code == ENOENT { return nil }
            throw EnrolFault.file("cannot read", path, error.code)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        defer { bytes.wipe() }
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw EnrolFault.file("cannot read", path) }
        return Secret(Array(bytes[..<count]))
    }
}

extension EnrolFault {
    package static func file(_ what: String, _ path: String, _ code: CInt = errno) -> EnrolFault {
        EnrolFault(
            .files,
            "\(what) \(path): \(FileFault(code: code))",
            hint: "remove the cause and run the command again: it continues"
        )
    }
}
