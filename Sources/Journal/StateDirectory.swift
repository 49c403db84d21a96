import CLinux
package import Domain
import Glibc

/// The folder with everything that is needed to resume: journal, lock, images, trust.
package struct StateDirectory: Sendable, Equatable {
    package let path: String

    /// Opens the folder; when it is missing, creates it and its parents for the owner alone.
    package static func create(at path: String) throws(StateDirectoryError) -> StateDirectory {
        try make(path)
        let directory = try existing(at: path)
        guard access(path, W_OK | X_OK) == 0 else { throw StateDirectoryError(path, errno) }
        return directory
    }

    /// Opens the folder for reading; creates nothing.
    package static func existing(at path: String) throws(StateDirectoryError) -> StateDirectory {
        var status = stat()
        guard stat(path, &status) == 0 else { throw StateDirectoryError(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path) }
        var system = statfs()
        guard statfs(path, &system) == 0 else { throw StateDirectoryError(path, errno) }
        let magic = UInt32(truncatingIfNeeded: system.f_type)
        if let name = networkFileSystem(magic: magic) {
            throw .networkFileSystem(path, name: name)
        }
        return StateDirectory(path: path)
    }

    /// Takes the lock, or throws `busy` immediately.
    ///
    /// The kernel frees it when the process ends, however it ends.
    package func lock(
        rollout: String,
        started: WallTime
    ) throws(StateDirectoryError) -> StateLock {
        try StateLock(
            file: path + "/lock",
            holder: LockHolder(pid: Int(getpid()), started: started, rollout: rollout)
        )
    }

    /// The current holder of the lock; found without taking it, so that no run is refused
    /// meanwhile.
    package func holder() -> LockHolder? { LockHolder.current(of: path + "/lock") }

    /// The name of a file system whose locks and shared memory do not reach other machines.
    ///
    /// The numbers are those of statfs(2).
    package static func networkFileSystem(magic: UInt32) -> String? {
        switch magic {
        case 0x0000_6969: "NFS"
        case 0x0000_517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
        case 0x0102_1997: "9P"
        case 0x00C3_6400: "Ceph"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x7375_7245: "Coda"
        case 0x0BD0_0BD0: "Lustre"
        case 0x0000_564C: "NCP"
        default: nil
        }
    }

    /// Creates the folders above a path; a failure shows when the path itself is used.
    package static func makeFolders(above path: String) { try? make(parent(of: path)) }

    /// Creates a folder and the missing ones above it; each is on disk on return.
    private static func make(_ path: String) throws(StateDirectoryError) {
        guard mkdir(path, 0o700) != 0 else { return sync(parent(of: path)) }
        switch errno {
        case EEXIST: return
        case ENOENT:
            let above = parent(of: path)
            guard !path.isEmpty, above != path else { throw .missing(path) }
            try make(above)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw StateDirectoryError(path, errno)
            }
            sync(above)
        default: throw StateDirectoryError(path, errno)
        }
    }

    private static func parent(of path: String) -> String {
        var rest = Substring(path)
        while rest.count > 1, rest.last == "/" { rest.removeLast() }
        guard let slash = rest.lastIndex(of: "/") else { return "." }
        return slash == rest.startIndex ? "/" : String(rest[..<slash])
    }

    private static func sync(_ path: String) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

/// Why a state directory cannot be used.
package enum StateDirectoryError: Error, Equatable {
    case missing(String)
    case notADirectory(String)
    case notPermitted(String)
    case readOnly(String)
    case full(String)
    case networkFileSystem(String, name: String)
    /// Another run holds the lock; nil when it has not written its holder yet.
    case busy(LockHolder?)
    case failed(String, code: CInt)

    init(_ path: String, _ code: CInt) {
        switch code {
        case ENOENT: self = .missing(path)
        case ENOTDIR: self = .notADirectory(path)
        case EACCES, EPERM: self = .notPermitted(path)
        case EROFS: self = .readOnly(path)
        case ENOSPC, EDQUOT: self = .full(path)
        default: self = .failed(path, code: code)
        }
    }
}

extension StateDirectoryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path): "there is no state directory \(path)"
        case .notADirectory(let path): "\(path) is not a directory"
        case .notPermitted(let path): "the state directory \(path) is not ours to use"
        case .readOnly(let path): "the state directory \(path) is on a read-only file system"
        case .full(let path): "the state directory \(path) cannot be made: the disk is full"
        case .networkFileSystem(let path, let name):
            "the state directory \(path) is on a network file system (\(name)), "
                + "where locks do not hold; use a local disk"
        case .busy(let holder?): "another run is at work: \(holder)"
        case .busy(nil): "another run is at work"
        case .failed(let path, let code):
            "the state directory \(path) cannot be used: \(String(cString: strerror(code)))"
        }
    }
}
