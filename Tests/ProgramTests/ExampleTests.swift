import Foundation
import Testing

/// The example of the library, run as the documents say.
@Suite struct ExampleTests {
    @Test func `the example finds modules, connects, and switches the lights on`() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: Program.path).deletingLastPathComponent()
            .appending(path: "SetLights")
        let demo = Program.repository.appending(path: "manifests/demo")
        process.arguments = [
            demo.appending(path: "depot.yaml").path, demo.appending(path: "keys/demo.key").path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let lines = text.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("COMODULE") } == 24)
        #expect(lines.contains { $0.contains("state_of_charge = 80 percent") })
        #expect(lines.last == "lights are enabled now")
    }
}
