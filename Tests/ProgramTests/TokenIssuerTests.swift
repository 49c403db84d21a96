import Foundation
import Testing
import Workbench

/// Tokens that a program issues when they are needed.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TokenIssuerTests {
    private static let depot = """
        name: cars
        seed: 3
        tenant-keys: ["00\(SampleTokens.tenant)"]
        modules:
          - {serial: G9-0001, family: geotab-go, hardware-id: 553845661}

        """

    private let program: Program

    init() throws {
        program = try Program()
        try program.write("depot.yaml", Self.depot)
        try program.write("good.token", SampleTokens.good)
    }

    /// Writes a manifest whose only car gets its token from a program with this script.
    private func prepare(
        _ script: String,
        row: String = "",
        token: String = "{command: [./issue, \"{id}\", \"{serial}\"]}"
    ) throws {
        try program.write("issue", "#!/bin/sh\necho \"$@\" >> asked\n" + script, mode: 0o700)
        try program.write(
            "cars.yaml",
            """
            name: cars
            vehicles:
              from: [{id: car-1, serial: G9-0001, family: geotab-go\(row)}]
              token: \(token)
            steps:
              - command: unlock-driver
              - command: lock

            """
        )
    }

    private func run(_ more: String...) throws -> Program.Result {
        try program.run(
            ["run", "cars.yaml", "--simulate", "depot.yaml", "--state", program.state] + more
        )
    }

    private func asked() throws -> [String] {
        let path = program.folder.path + "/asked"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .map(String.init)
    }

    @Test func `a token is fetched when it is needed, and once for its life`() throws {
        try prepare("cat good.token")
        let checked = try program.run(["validate", "cars.yaml"])
        #expect(checked.status == 0, "\(checked.errors)")
        let asked = try asked()
        #expect(asked.isEmpty, "nobody needs it yet")
        let result = try run("--events", "events.json")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let twice = try self.asked()
        #expect(twice == ["car-1 g9-0001"])
        // The token is only in memory.
        let start = String(SampleTokens.good.prefix(60))
        let files = try FileManager.default.subpathsOfDirectory(atPath: program.folder.path)
        for file in files where file != "good.token" {
            let path = program.folder.path + "/" + file
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            #expect(!String(decoding: bytes, as: UTF8.self).contains(start), "\(file)")
        }
        #expect(!(result.output + result.errors).contains(start))
    }

    @Test func `nobody who hands it out defers the vehicle, and nothing is sent`() throws {
        try prepare("echo \(SampleTokens.good.prefix(40)); exit 3")
        let result = try run()
        #expect(result.status == 11, "\(result.output)")
        #expect(result.output.contains("cars.yaml:4:"), "\(result.output)")
        #expect(result.output.contains("issue ended with 3"), "\(result.output)")
        #expect(!(result.output + result.errors).contains(SampleTokens.good.prefix(40)))
        // The program was called again, for as long as the run would wait for the radio.
        let count = try asked().count
        #expect(count > 5)
        // The next run gets a token.
        try prepare("cat good.token")
        let next = try run()
        #expect(next.status == 0, "\(next.output)")
    }

    @Test(arguments: [
        ("cat good.token", ", hardware-id: 7", "hardware id"),
        ("echo nothing", "", "cannot be used"),
    ])
    func `a wrong token is refused before anything is sent`(
        script: String,
        row: String,
        words: String
    ) throws {
        try prepare(script, row: row)
        let result = try run()
        #expect(result.status == 10, "\(result.output)")
        #expect(result.output.contains("cars.yaml:4:") && result.output.contains(words))
        let count = try asked().count
        #expect(count == 1)
    }

    @Test(arguments: [
        ("{command: []}", "command"), ("{url: \"http://here/token\"}", "https"),
        ("{command: [./issue], url: \"https://here/token\"}", "not from both"),
        ("{}", "the issuer of the tokens"),
        ("{url: \"https://here/token\", key: d0c5}", "reference"),
        ("{command: [./absent]}", "to hand out tokens"),
    ])
    func `who hands tokens out is checked before the night`(token: String, words: String) throws {
        try prepare("cat good.token", token: token)
        let result = try program.run(["validate", "cars.yaml"])
        #expect(result.status != 0)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains("cars.yaml:4:"), "\(result.errors)")
    }

    @Test func `an address is asked over https, and believed by its certificate alone`() throws {
        let folder = program.folder.path
        try makeCertificates(in: folder)
        try program.write("booking.key", "sesame\n")
        try program.write("car-1.txt", "HTTP/1.0 200 OK\r\n\r\n" + SampleTokens.good)
        let server = try TLSServer(in: folder, ["-cert", "server.pem", "-key", "server.key"])
        try prepare(
            "",
            token: "{url: \"\(server.url("{id}.txt"))\", key: \"file:booking.key\"}"
        )
        let manifest = folder + "/cars.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        let served = try ServedDepot("depot.yaml", of: program)
        try program.write("cars.yaml", text + "fetch: {ca: authority.pem}\n")
        let result = try program.run([
            "run", "cars.yaml", "--bus", served.address, "--state", program.state,
        ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        withExtendedLifetime(served) {}
        withExtendedLifetime(server) {}
    }
}
