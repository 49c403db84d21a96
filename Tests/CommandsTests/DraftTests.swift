import Base
import Foundation
import Glibc
import Operations
import Synchronization
import Testing
import Workbench

/// Files that are complete at any moment, whichever other processes write them.
@Suite struct DraftTests {
    private func names(_ scratch: Scratch) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }

    @Test func `of many that write one file at once each is whole, and nothing is left`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/night.html"
        let texts = (0..<6).map { [UInt8](repeating: UInt8($0), count: 100_000 + $0 * 10_000) }
        let faults = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: texts.count) { number in
            for round in 0..<30 {
                if let code = Draft.write(texts[number], to: path, mode: 0o644) {
                    faults.withLock { $0.append("\(number), \(round): \(code)") }
                }
                if let found = try? contents(path), !texts.contains(found) {
                    faults.withLock { $0.append("\(number), \(round): torn") }
                }
            }
        }
        #expect(faults.withLock { $0 } == [])
        #expect(try names(scratch) == ["night.html"])
    }

    @Test func `what a process that ended left is removed, what another one writes is not`() throws
    {
        let scratch = try Scratch()
        let path = scratch.path + "/plan"
        let (orphan, held) = (path + ".0123456789abcdef.part", path + ".fedcba9876543210.part")
        for name in [orphan, held, path + ".other.part", scratch.path + "/x.0123456789abcdef.part"]
        {
            try write([1], to: name)
        }
        // Even without write permission on a draft, a user can remove it.
        chmod(orphan, 0o444)
        let holder = open(held, O_RDONLY | O_CLOEXEC)
        defer { close(holder) }
        #expect(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
        #expect(Draft.write([2], to: path, mode: 0o600) == nil)
        #expect(try contents(path) == [2])
        #expect(
            try names(scratch) == [
                "plan", "plan.fedcba9876543210.part", "plan.other.part",
                "x.0123456789abcdef.part",
            ]
        )
    }

    @Test func `a folder that is missing is said, and nothing is left after a failure`() throws {
        let scratch = try Scratch()
        #expect(Draft.write([1], to: scratch.path + "/away/x", mode: 0o600) == ENOENT)
        mkdir(scratch.path + "/x", 0o700)
        #expect(Draft.write([1], to: scratch.path + "/x", mode: 0o600) == EISDIR)
        #expect(try names(scratch) == ["x"])
    }

    @Test func `an exact mode is one that the process's mask does not change`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/fleet"
        #expect(Draft.write([1], to: path, mode: 0o666, isExact: true) == nil)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o666)
    }
}
