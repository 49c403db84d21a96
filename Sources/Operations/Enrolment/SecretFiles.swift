package import Domain
import Files
import Glibc

/// The secrets of one vehicle as files beside each other: `ID.key`, and during a change
/// `ID.key.new`; the previous one stays in `ID.key.before`.
///
/// Blocks: call it on a thread of its own.
package struct SecretFiles: Sendable {
    private static let limit = 4_096

    private let file: OutsideFile
    private var path: String { file.path }
    private let maker: Secret?

    /// `maker` is the secret from the maker, if it is known.
    package init(_ file: OutsideFile, maker: Secret?) {
        self.file = file
        self.maker = maker
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

    package func keepPending(_ secret: Secret) throws(EnrolFault) {
        try prepare()
        // A secret that was read from a file already has its line end.
        let line = secret.withBytes { bytes in
            bytes.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed() + [0x0A]
        }
        try write(line, to: path + ".new")
    }

    package func commit() throws(EnrolFault) {
        try prepare()
        // The old secret has two names before the new one takes the first.
        if let old = try read(path) {
            try write(old.withBytes { $0 }, to: path + ".before")
        }
        do throws(FileFault) { try FilePlace.rename(path + ".new", to: path) } catch {
            throw EnrolFault.file("cannot replace", path, error.code)
        }
        Draft.sync(folderOf: path)
    }

    package func retire() throws(EnrolFault) {
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
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw EnrolFault.file("cannot read", path) }
        return Secret(Array(bytes[..<count]))
    }
}

extension EnrolFault {
    static func file(_ what: String, _ path: String, _ code: CInt = errno) -> EnrolFault {
        EnrolFault(
            .files,
            "\(what) \(path): \(FileFault(code: code))",
            hint: "remove the cause and run the command again: it continues"
        )
    }
}
