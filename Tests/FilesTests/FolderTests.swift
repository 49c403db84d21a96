import Base
import Foundation
import Glibc
import Synchronization
import Testing
import Workbench

/// Files that are made, written and renamed below a directory which somebody else may change.
@Suite struct FolderTests {
    private static let isRoot = geteuid() == 0
    /// Somebody without privileges.
    private static let other: uid_t = 65_534

    /// What opening this path for writing ends with; nil when it was opened.
    private func fault(_ path: String, _ flags: CInt = O_WRONLY | O_CREAT) -> FileFault? {
        do throws(FileFault) {
            close(try FilePlace.open(path, flags, mode: 0o600))
            return nil
        } catch { return error }
    }

    @Test func `a link in the place of a file is never followed`() throws {
        let scratch = try Scratch()
        let path = scratch.path
        symlink(path + "/outside", path + "/file")
        #expect(fault(path + "/file") == FileFault(code: ELOOP))
        #expect(fault(path + "/outside", O_WRONLY) == FileFault(code: ENOENT))
        // A new file takes the place of the link.
        try write([1], to: path + "/draft")
        try FilePlace.rename(path + "/draft", to: path + "/file")
        #expect(try FilePlace(path + "/file").facts()?.kind == .file)
    }

    @Test func `what is no regular file is not opened, and nothing waits for it`() throws {
        let scratch = try Scratch()
        let path = scratch.path
        try #require(mkfifo(path + "/pipe", 0o600) == 0)
        try FilePlace.makeFolder(path + "/folder")
        for (name, flags) in [
            ("pipe", O_WRONLY | O_CREAT), ("pipe", O_RDONLY), ("folder", O_RDONLY),
        ] {
            #expect(fault("\(path)/\(name)", flags) == .notAFile, "\(name)")
        }
        #expect(fault(path + "/folder", O_WRONLY) == FileFault(code: EISDIR))
        #expect(fault("/dev/null", O_WRONLY) == .notAFile)
        #expect(fault("") == FileFault(code: ENOENT) && fault("/") == FileFault(code: EISDIR))
    }

    @Test(
        .enabled(if: isRoot, "only root can give files away"),
        arguments: [(0, true), (other, false)] as [(uid_t, Bool)]
    )
    func `a link on the way is followed only when it is root's or our own`(
        owner: uid_t,
        isFollowed: Bool
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path
        try FilePlace.makeFolder(path + "/real")
        symlink("real", path + "/way")
        try #require(lchown(path + "/way", owner, owner) == 0)
        let fault = fault(path + "/way/file")
        #expect(fault == (isFollowed ? nil : FileFault(code: ELOOP)))
        #expect((try FilePlace(path + "/real/file").facts() != nil) == isFollowed)
    }

    @Test(.enabled(if: isRoot, "only root can give files away"))
    func `what root makes in somebody's directory belongs to its owner`() throws {
        let scratch = try Scratch()
        let path = scratch.path
        try #require(chown(path, Self.other, Self.other) == 0)
        #expect(fault(path + "/file") == nil)
        try FilePlace.makeFolder(path + "/folder")
        for name in ["file", "folder"] {
            #expect(try FilePlace("\(path)/\(name)").facts()?.owner == Self.other, "\(name)")
        }
        // What was root's before stays root's.
        try #require(chown(path + "/file", 0, 0) == 0)
        try write([1], to: path + "/file")
        #expect(fault(path + "/file", O_RDWR) == nil)
        #expect(try FilePlace(path + "/file").facts()?.owner == 0)
        #expect(try FilePlace(path + "/file").strayed?.contains("sudo chown -R nobody: ") == true)
    }

    /// Somebody exchanges a folder for a link to another place, back and forth, while root makes, writes, renames and
    /// removes files in it.
    @Test(.enabled(if: isRoot, "only root follows links of other users"), arguments: 1...5)
    func `a folder that is exchanged for a link a hundred times leads nowhere`(round: Int) throws {
        let scratch = try Scratch()
        let (ground, outside) = (scratch.path + "/ground", scratch.path + "/outside")
        for folder in [ground, outside, ground + "/folder"] { try FilePlace.makeFolder(folder) }
        for name in ["victim", "file"] { try write([7], to: "\(outside)/\(name)") }
        symlink(outside, ground + "/link")
        for name in ["folder", "link"] {
            try #require(lchown("\(ground)/\(name)", Self.other, Self.other) == 0)
        }
        try #require(chown(ground, Self.other, Self.other) == 0)
        let swaps = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let thread = Thread {
            while !isOver.load(ordering: .relaxed) {
                rename(ground + "/folder", ground + "/aside")
                rename(ground + "/link", ground + "/folder")
                rename(ground + "/folder", ground + "/link")
                rename(ground + "/aside", ground + "/folder")
                swaps.add(1, ordering: .relaxed)
            }
        }
        thread.start()
        var made = 0
        for number in 0..<100 {
            let before = swaps.load(ordering: .relaxed)
            let path = ground + "/folder"
            if fault("\(path)/\(number)", O_WRONLY | O_CREAT | O_TRUNC) == nil { made += 1 }
            _ = fault(path + "/victim", O_WRONLY | O_TRUNC)
            try? FilePlace.rename("\(path)/\(number)", to: path + "/file")
            try? FilePlace.remove(path + "/victim")
            try? FilePlace.makeFolder("\(path)/made-\(number)")
            try wait(for: "an exchange") { swaps.load(ordering: .relaxed) > before }
        }
        isOver.store(true, ordering: .relaxed)
        try wait(for: "the end of the exchanges") { thread.isFinished }
        #expect(made > 0)
        #expect(try Folder.open(outside).names() == ["file", "victim"])
        for name in ["victim", "file"] { #expect(try contents("\(outside)/\(name)") == [7]) }
        #expect(try FilePlace(outside).facts()?.owner == 0)
    }

    @Test func `who could have written a file that names programs`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/list"
        #expect(Authorship.doubt(path) == nil)
        try write([1], to: path)
        chmod(path, 0o644)
        #expect(Authorship.doubt(path) == nil)
        #expect(
            Authorship.doubt(path, user: geteuid() + 1)?.cause
                == (Self.isRoot ? nil : "\(path) belongs to \(Owner(id: geteuid()))")
        )
        chmod(path, 0o666)
        let doubt = Authorship.doubt(path)
        #expect(doubt?.cause == "\(path) can be written by other users")
        #expect(doubt?.remedy.hasSuffix("chmod go-w \(path)") == true)
    }
}
