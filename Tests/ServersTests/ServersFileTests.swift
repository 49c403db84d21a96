import Base
import Servers
import Testing

/// The file of servers, and which file of an action is for which vehicle.
@Suite struct ServersFileTests {
    private func read(_ text: String) -> (servers: [ServerSettings]?, diagnostics: [Diagnostic]) {
        ServersReader.read(text.bytes, path: "servers.yaml")
    }

    @Test func `a server has an address, a token and rules for its files`() throws {
        let text = """
            servers:
              office:
                url: https://updates.example:8443/DEFAULT/
                controller: "{serial}"
                gateway-token: file:keys/office.token
                requests-per-second: 5
                hosts: [CDN.example]
                artifacts:
                  - file: "city-*.swu"
                    member: city.zip
                    image: {fits: {family: comodule, type: 17}, signature: {key: RWabc}}
                    update: {healthy: {speed: "== 0"}, downgrade: allow}
            """
        let server = try #require(read(text).servers?.first)
        #expect(server.url == "https://updates.example:8443/DEFAULT")
        #expect(server.requestsPerSecond == 5 && server.hosts == ["cdn.example"])
        guard case .gateway(let token) = server.credential else {
            Issue.record("no token")
            return
        }
        #expect("\(token)" == "file:keys/office.token")
        let rule = try #require(server.rules.first)
        #expect(rule.namesSigner && !rule.trustsTransport && rule.member == "city.zip")
        #expect(rule.image.first?.value["type"] == 17)
        #expect(rule.update.map(\.name) == ["healthy", "downgrade"])
        #expect(server.mayFetch(from: try WebAuthority("cdn.example")))
        #expect(!server.mayFetch(from: try WebAuthority("evil.example")))
        #expect(!server.isOwn(try WebAuthority("updates.example")))
        let office = try WebAuthority("updates.example:8443")
        #expect(server.sendsToken(to: "https://updates.example:8443/f", at: office))
        // Whoever listens there would have the token.
        #expect(server.isOwn(office))
        #expect(!server.sendsToken(to: "http://updates.example:8443/f", at: office))
        #expect(
            !server.sendsToken(to: "https://cdn.example/f", at: try WebAuthority("cdn.example"))
        )
    }

    private static func server(_ lines: String, rule: String = "") -> String {
        """
        servers:
          office:
            url: https://updates.example/DEFAULT
            \(lines)
            artifacts: [{image: {fits: {family: esp}}\(rule)}]
        """
    }

    @Test(arguments: [
        ("gateway-token: a1b2c3", "a token must be a reference"),
        ("controller-token: a1b2c3", "a token must be a reference"),
        ("gateway-token: env:A\n    controller-token: env:B", "beside `gateway-token`"),
        ("requests-per-second: 0", "out of range"), ("hosts: [\"a b\"]", "is not a host"),
        ("tokne: x", "unknown key"),
    ])
    func `a mistake has its place`(lines: String, words: String) throws {
        let (servers, diagnostics) = read(Self.server(lines))
        #expect(servers == nil)
        let first = try #require(diagnostics.first)
        #expect(first.message.contains(words), "\(first)")
        #expect(first.place.line >= 4)
        // A token that was pasted into the file is not repeated.
        #expect(!diagnostics.contains { "\($0)".contains("a1b2c3") })
    }

    @Test(arguments: [
        "http://updates.example/DEFAULT", "updates.example", "https://", "https://a b/",
        "https://updates.example/x?y", "https://me:secret@updates.example/",
    ])
    func `an address that is none is refused`(url: String) {
        let text = Self.server("").replacing("https://updates.example/DEFAULT", with: "\"\(url)\"")
        #expect(read(text).servers == nil)
    }

    @Test(arguments: [
        ", update: {to: city}", ", image: {fits: {}}", ", trust: blindly", ", member: []",
    ])
    func `a rule that contradicts the server is refused`(rule: String) {
        #expect(read(Self.server("", rule: rule)).servers == nil)
    }

    @Test func `what the server says of an image is not in the file`() {
        for key in ["url: x", "sha256: x", "version: \"1.0\"", "size: 1"] {
            let text = Self.server("").replacing("image: {", with: "image: {\(key), ")
            #expect(read(text).servers == nil, "\(key)")
        }
    }

    // MARK: Files of an action

    private func chosen(_ files: [(module: String, file: String, version: String)]) throws
        -> Result<ChosenArtifact, NoArtifact>
    {
        let text = """
            servers:
              office:
                url: https://updates.example/DEFAULT
                artifacts:
                  - {file: "lite-*", profile: lite, image: {fits: {family: esp}}}
                  - {file: "*.bin", module: "sensor*", image: {fits: {family: esp}}}
                  - {file: "*.zip", image: {fits: {family: nordic}}}
            """
        let server = try #require(read(text).servers?.first)
        let hash = String(repeating: "ab", count: 32)
        let chunks = files.map { module, file, version in
            #"{"name":"\#(module)","version":"\#(version)","artifacts":[{"filename":"\#(file)","#
                + #""hashes":{"sha256":"\#(hash)"},"size":1,"#
                + #""_links":{"download":{"href":"https://updates.example/\#(file)"}}}]}"#
        }
        let json =
            #"{"id":"5","deployment":{"download":"forced","update":"forced","chunks":["#
            + chunks.joined(separator: ",") + "]}}"
        let deployment = try Deployment(json.bytes, of: try #require(ActionID("5")))
        return Result { () throws(NoArtifact) in
            try server.artifact(of: deployment, family: "esp", profile: "generic")
        }
    }

    @Test func `the file is chosen by name, module, family and profile`() throws {
        let found = try chosen([
            ("sensor-4", "sensor.bin", "2.7.31"), ("other", "other.bin", "1.0.0"),
            ("sensor-4", "sensor.zip", "2.7.31"), ("sensor-4", "lite-1.img", "2.7.31"),
        ])
        #expect(try found.get().artifact.file == "sensor.bin")
        #expect(try found.get().version == FirmwareVersion(2, 7, 31))
    }

    @Test func `no file, two files and no version are refused`() throws {
        func fault(_ result: Result<ChosenArtifact, NoArtifact>) -> NoArtifact? {
            if case .failure(let fault) = result { return fault }
            return nil
        }
        #expect(fault(try chosen([("other", "other.bin", "1.0.0")])) == .noRule)
        #expect(fault(try chosen([("sensor", "a.bin", "rc-2")])) == .badVersion("rc-2"))
        let two = [("sensor", "a.bin", "1.0.0"), ("sensor", "b.bin", "1.0.0")]
        #expect(fault(try chosen(two)) == .several("a.bin", "b.bin"))
    }

    @Test func `a template takes the vehicle's values and leaves other braces`() {
        let values = [(name: "id", value: "EE-1"), (name: "depot", value: "{id}")]
        #expect(Template.fill("a-{id}-{depot}-{x}-{", values) == "a-EE-1-{id}-{x}-{")
    }
}
