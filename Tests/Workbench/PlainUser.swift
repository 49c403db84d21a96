package import Foundation
import Glibc

/// A user without privileges, for tests that root would pass whatever the code does.
package enum PlainUser {
    private static let id: uid_t = 65_534

    /// Drops root's privileges for the rest of this process; for exit tests, which run in their own
    /// processes.
    ///
    /// A process that is not root is left as it is.
    package static func become() throws {
        guard geteuid() == 0 else { return }
        guard setgroups(0, nil) == 0, setgid(id) == 0, setuid(id) == 0
        else { throw FileFailure("to become a plain user") }
    }

    /// Gives a folder and everything in it to the plain user, when this process is root.
    package static func own(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard try run("chown", "-R", "\(id):\(id)", path) == 0 else {
            throw FileFailure("to give away \(path)")
        }
    }

    /// The beginning of a command line that runs a program as the plain user.
    package static var prefix: [String] {
        guard geteuid() == 0 else { return [] }
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    }
}

extension PlainUser {
    /// Starts a program as the plain user in a folder; its output is discarded.
    package static func start(_ arguments: [String], in folder: String) throws -> Process {
        let line = prefix + arguments
        let process = Process()
        process.executableURL = URL(filePath: line[0])
        process.arguments = Array(line.dropFirst())
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

extension Process {
    /// The number of its calls to read and to write, as the kernel counts them.
    private var calls: Int? {
        guard let text = try? contents("/proc/\(processIdentifier)/io") else { return nil }
        var sum = 0
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("syscr: ") || line.hasPrefix("syscw: ") else { continue }
            sum += Int(line.split(separator: " ")[1]) ?? 0
        }
        return sum
    }

    /// Waits for its end and returns the number of its calls, as far as they were observed.
    package func countCalls() -> Int {
        var most = 0
        while isRunning { most = max(most, calls ?? 0) }
        waitUntilExit()
        return most
    }

    /// Kills it after `place` calls; false when it ended before that.
    package func isKilled(after place: Int) -> Bool {
        while isRunning {
            guard let calls, calls >= place else { continue }
            kill(processIdentifier, SIGKILL)
            break
        }
        waitUntilExit()
        return terminationReason == .uncaughtSignal
    }
}
