package import Base
import CLinux
import Glibc

/// The folder with everything that is needed to resume: journal, lock, images, trust.
package struct StateDirectory: Sendable, Equatable {
    package let path: String

    /// Opens the folder; when it is missing, creates it and its parents for the owner alone.
    package static func create(at path: String) throws(StateDirectoryError) -> StateDirectory {
        let folder: Folder
        do throws(FileFault) { folder = try make(path) } catch {
            throw StateDirectoryError(path, error.code)
        }
        let directory = try checked(folder, path)
        guard faccessat(folder.descriptor, ".", W_OK | X_OK, 0) == 0 else {
            throw StateDirectoryError(path, errno)
        }
        return directory
    }

    /// Opens the folder for reading; creates nothing.
    package static func existing(at path: String) throws(StateDirectoryError) -> StateDirectory {
        let folder: Folder
        do throws(FileFault) { folder = try Folder.open(path) } catch {
            throw StateDirectoryError(path, error.code)
        }
        return try checked(folder, path)
    }

    private static func checked(
        _ folder: Folder,
        _ path: String
    ) throws(StateDirectoryError) -> StateDirectory {
        var system = statfs()
        guard fstatfs(folder.descriptor, &system) == 0 else {
            throw StateDirectoryError(path, errno)
        }
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

    /// Takes the right to speak to update servers, or throws `busy` immediately; runs are not kept out.
    package func lockServers(
        rollout: String,
        started: WallTime
    ) throws(StateDirectoryError) -> StateLock {
        try StateLock(
            file: path + "/servers.lock",
            holder: LockHolder(pid: Int(getpid()), started: started, rollout: rollout)
        )
    }

    /// Whether there is a journal in it, in whatever condition.
    package var hasJournal: Bool {
        do throws(FileFault) {
            return try FilePlace(path + "/" + Journal.fileName).facts() != nil
        } catch { return error.code != ENOENT }
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
    package static func makeFolders(above path: String) {
        _ = try? make(FilePlace.folder(of: path))
    }

    /// Opens a folder after creating it and the missing ones above it; each is on disk on return.
    private static func make(_ path: String) throws(FileFault) -> Folder {
        do throws(FileFault) { return try Folder.open(path) } catch {
            guard error.code == ENOENT, !path.isEmpty else { throw error }
        }
        let above = FilePlace.folder(of: path)
        guard above != path else { throw FileFault(code: ENOENT) }
        let folder = try make(above)
        try FilePlace(path).makeFolder()
        try? folder.sync()
        return try Folder.open(path)
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
            "the state directory \(path) cannot be used: \(FileFault(code: code))"
        }
    }
}
