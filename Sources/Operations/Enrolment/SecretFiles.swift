package import Domain
import Glibc

/// The secrets of one vehicle as files beside each other: `ID.key`, and while it changes `ID.key.new`;
/// the one of before stays in `ID.key.before`.
///
/// Blocks: whoever calls it has a thread for that.
package struct SecretFiles: Sendable {
    private static let limit = 4_096

    private let path: String
    private let maker: Secret?

    /// `maker` is what the module was made with, where that is known.
    package init(path: String, maker: Secret?) {
        self.path = path
        self.maker = maker
    }

    private func path(_ slot: SecretSlot) -> String? {
        switch slot {
        case .current: path
        case .pending: path + ".new"
        case .before: path + ".before"
        case .undone: path + ".undone"
        case .maker: nil
        }
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
        try AtomicFile.write(
            secret.withBytes { $0 + [0x0A] },
            to: path + ".new",
            mode: 0o600,
            makingFolder: true
        )
    }

    package func commit() throws(EnrolFault) {
        // The old one stands under two names before the new one takes the first.
        if let old = try read(path) {
            try AtomicFile.write(old.withBytes { $0 }, to: path + ".before", mode: 0o600)
        }
        guard rename(path + ".new", path) == 0 else {
            throw AtomicFile.fault("cannot put in its place", path)
        }
        AtomicFile.sync(folderOf: path)
    }

    package func retire() throws(EnrolFault) {
        unlink(path + ".new")
        guard rename(path, path + ".undone") == 0 || errno == ENOENT else {
            throw AtomicFile.fault("cannot put away", path)
        }
        AtomicFile.sync(folderOf: path)
    }

    private func read(_ path: String) throws(EnrolFault) -> Secret? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw AtomicFile.fault("cannot read", path)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw AtomicFile.fault("cannot read", path) }
        return Secret(Array(bytes[..<count]))
    }
}

/// Files that are whole at any time: written beside their place, and then put into it.
package enum AtomicFile {
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32,
        makingFolder: Bool = false
    ) throws(EnrolFault) {
        if makingFolder { mkdir(folder(of: path), 0o700) }
        let draft = path + ".\(getpid()).draft"
        unlink(draft)
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
        guard file >= 0 else { throw fault("cannot make", draft) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.write(file, $0.baseAddress, $0.count)
            }
            guard count > 0 else { break }
            sent += count
        }
        let isWhole = sent == bytes.count && fchmod(file, mode) == 0 && fsync(file) == 0
        let code = errno
        close(file)
        guard isWhole, rename(draft, path) == 0 else {
            let failure =
                isWhole ? Self.fault("cannot write", path) : Self.fault("cannot write", path, code)
            unlink(draft)
            throw failure
        }
        sync(folderOf: path)
    }

    static func sync(folderOf path: String) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func fault(_ what: String, _ path: String, _ code: Int32 = errno) -> EnrolFault {
        EnrolFault(
            .files,
            "\(what) \(path): \(String(cString: strerror(code)))",
            hint: "mend that and give the command again: it goes on where it stood"
        )
    }
}
