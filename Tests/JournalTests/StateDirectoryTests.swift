import Base
import Glibc
import Store
import Testing
import Workbench

@Suite struct StateDirectoryTests {
    private func errorOfCreating(_ path: String) -> StateDirectoryError? {
        do {
            _ = try StateDirectory.create(at: path)
            return nil
        } catch {
            return error
        }
    }

    /// Takes the lock and releases it; the error when that fails.
    private func errorOfLocking(_ directory: StateDirectory) -> StateDirectoryError? {
        do {
            try directory.lock(rollout: "second", started: at(9)).release()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["a", "a/b/c", "a/b/c/", "a//b"])
    func `the folder and those above it are made for the owner alone`(name: String) throws {
        let scratch = try Scratch()
        let path = scratch.path + "/" + name
        for _ in 0..<2 { #expect(try StateDirectory.create(at: path).path == path) }
        for made in ["/a", "/" + name] {
            var status = stat()
            #expect(stat(scratch.path + made, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    @Test func `reading makes no folder`() throws {
        let scratch = try Scratch()
        #expect(throws: StateDirectoryError.missing(scratch.path + "/a")) {
            try StateDirectory.existing(at: scratch.path + "/a")
        }
        #expect(scratch.files.isEmpty)
    }

    @Test func `a file in the way, an empty path and a dangling link are distinguished`() throws {
        let scratch = try Scratch()
        let file = scratch.path + "/file"
        try write([1], to: file)
        #expect(errorOfCreating(file) == .notADirectory(file))
        #expect(errorOfCreating(file + "/a") == .notADirectory(file + "/a"))
        #expect(errorOfCreating("") == .missing(""))
        let link = scratch.path + "/link"
        symlink(scratch.path + "/nowhere", link)
        #expect(errorOfCreating(link) == .missing(link))
    }

    @Test func `a folder that nobody can make is refused with its path`() {
        let error = errorOfCreating("/proc/yardmaster")
        #expect(error == .missing("/proc/yardmaster") || error == .notPermitted("/proc/yardmaster"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a read-only file system"))
    func `a read-only file system is reported`() throws {
        let scratch = try Scratch()
        try #require(try run("mount", "-t", "tmpfs", "-o", "ro", "none", scratch.path) == 0)
        defer { _ = try? run("umount", "-l", scratch.path) }
        #expect(errorOfCreating(scratch.path) == .readOnly(scratch.path))
        #expect(errorOfCreating(scratch.path + "/a") == .readOnly(scratch.path + "/a"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become somebody who may not"))
    func `somebody else's folder is not permitted`() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setuid(65_534) == 0)
            let error = #expect(throws: StateDirectoryError.self) {
                try StateDirectory.create(at: "/root/yardmaster")
            }
            #expect(error == .notPermitted("/root/yardmaster"))
        }
    }

    @Test(arguments: [
        (UInt32(0x6969), "NFS"), (0xFE53_4D42, "SMB"), (0xFF53_4D42, "SMB"), (0x517B, "SMB"),
        (0x00C3_6400, "Ceph"), (0x0102_1997, "9P"),
    ])
    func `a network file system is known by its number`(magic: UInt32, name: String) {
        #expect(StateDirectory.networkFileSystem(magic: magic) == name)
    }

    @Test(arguments: [UInt32(0xEF53), 0x0102_1994, 0x9123_683E, 0x5846_5342, 0x794C_7630])
    func `local file systems are welcome`(magic: UInt32) {
        #expect(StateDirectory.networkFileSystem(magic: magic) == nil)
    }

    @Test func `the lock is held by one, and the other learns by whom`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory.create(at: scratch.path)
        #expect(directory.holder() == nil)
        let lock = try directory.lock(rollout: "tallinn\n4.12", started: at(1))
        let holder = LockHolder(pid: Int(getpid()), started: at(1), rollout: "tallinn 4.12")
        #expect(errorOfLocking(directory) == .busy(holder))
        #expect(directory.holder() == holder)
        lock.release()
        #expect(directory.holder() == nil)
        #expect(errorOfLocking(directory) == nil)
        #expect(try contents(scratch.path + "/lock").isEmpty)
    }

    @Test func `asking who holds the lock never keeps a run out`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory.create(at: scratch.path)
        for _ in 0..<100 {
            #expect(directory.holder() == nil)
            #expect(errorOfLocking(directory) == nil)
        }
    }

    @Test func `a killed process leaves the lock free, whatever its file says`() async throws {
        let folder = "/tmp/yardmaster-state-killed-\(getpid())"
        defer { _ = try? run("rm", "-rf", folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            let directory = try StateDirectory.create(at: folder)
            let lock = try directory.lock(rollout: "killed", started: at(2))
            kill(getpid(), SIGKILL)
            lock.release()
        }
        let directory = try StateDirectory.existing(at: folder)
        #expect(try !contents(folder + "/lock").isEmpty)
        #expect(directory.holder() == nil)
        #expect(errorOfLocking(directory) == nil)
    }

    @Test func `a lock that one look at the kernel's list misses is found by the next`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory.create(at: scratch.path)
        let lock = try directory.lock(rollout: "r", started: at(3))
        let path = scratch.path + "/lock"
        for misses in [1, 2, 15] {
            var looks = 0
            let holder = LockHolder.current(of: path) {
                looks += 1
                return looks <= misses
                    ? "1: POSIX  ADVISORY  WRITE 9 00:01:7 0 EOF\n" : LockHolder.kernelLocks()
            }
            #expect(holder?.pid == Int(getpid()))
            #expect(looks >= misses + 1)
        }
        // The number of readings is limited, and a list that cannot be read names no holder.
        var looks = 0
        #expect(
            LockHolder.current(of: path) {
                looks += 1
                return ""
            } == nil
        )
        #expect(looks == 16)
        #expect(LockHolder.current(of: path) { nil } == nil)
        lock.release()
    }

    @Test func `a link or a folder in the lock's place is refused`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory.create(at: scratch.path)
        symlink("/tmp/elsewhere", scratch.path + "/lock")
        #expect(errorOfLocking(directory) == .failed(scratch.path + "/lock", code: ELOOP))
        unlink(scratch.path + "/lock")
        mkdir(scratch.path + "/lock", 0o700)
        #expect(errorOfLocking(directory) == .failed(scratch.path + "/lock", code: EISDIR))
    }

    @Test(arguments: [
        "", "\n\n\n", "pid=\nstarted=1\nrollout=a\n", "pid=-1\nstarted=1\nrollout=a\n",
        "pid=1\nstarted=x\nrollout=a\n", "pid=1\nstarted=1\nrollout=a",
        "pid=1\nstarted=1\nother=a\n",
        "pid=99999999999999999999\nstarted=1\nrollout=a\n", "\0\0\0\0",
    ])
    func `a lock file that says something else names nobody`(text: String) throws {
        #expect(LockHolder(text: text) == nil)
        let scratch = try Scratch()
        try write(text.utf8, to: scratch.path + "/lock")
        #expect(try StateDirectory.existing(at: scratch.path).holder() == nil)
    }
}
