import Foundation
import PrivateBus
import Testing
import Workbench

/// A depot in a program's folder, which another process of the program serves as `org.bluez` on a
/// private bus.
final class ServedDepot {
    private let bus: PrivateBus
    private let process = Process()

    var address: String { bus.address }

    /// Returns when the depot is served; it ends with this object.
    init(_ depot: String, of program: Program, profiles: String? = nil) throws {
        bus = try PrivateBus()
        let ready = program.folder.path + "/ready-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: ready, contents: nil)
        process.executableURL = URL(filePath: Program.path)
        process.arguments = [
            "simulate", "--bus", bus.address, "--state", program.folder.path + "/served", depot,
        ]
        if let profiles { process.arguments? += ["--profiles", profiles] }
        process.currentDirectoryURL = URL(filePath: program.folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: ready))
        process.standardError = FileHandle.nullDevice
        try process.run()
        let process = process
        try wait(for: "the depot to be served") {
            try #require(process.isRunning)
            return try String(contentsOfFile: ready, encoding: .utf8).hasPrefix("ready: ")
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }
}

extension PrivateBus {
    /// Sends an order to the served depot's own object with `dbus-send`.
    static func cause(_ incident: String, on address: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/dbus-send")
        process.arguments = [
            "--bus=\(address)", "--print-reply", "--dest=ee.yardmaster.Depot",
            "/ee/yardmaster/depot", "ee.yardmaster.Depot1.Order", "string:\(incident)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
