import Base
import Servers
import Testing

/// Documents of servers, which may be hostile.
@Suite struct DocumentTests {
    private static let server = try? WebAuthority("updates.example")

    private func base(_ links: String) throws -> ControllerBase {
        let text = #"{"config":{"polling":{"sleep":"00:05:00"}},"_links":{\#(links)}}"#
        return try ControllerBase(text.bytes, of: try #require(Self.server))
    }

    private static let own = "https://updates.example/DEFAULT/controller/v1/bike-1"

    @Test func `an answer to a poll says what there is`() throws {
        let base = try base(
            #""deploymentBase":{"href":"\#(Self.own)/deploymentBase/5?c=-2127183556"},"#
                + #""installedBase":{"href":"\#(Self.own)/installedBase/4"},"#
                + #""configData":{"href":"\#(Self.own)/configData"}"#
        )
        #expect(base.deployment == ActionID("5") && base.wantsAttributes && !base.isIdle)
        #expect(base.interval == .seconds(300) && base.cancel == nil && base.confirmation == nil)
        #expect(try self.base("").isIdle)
        let empty = try ControllerBase(#"{"config":{}}"#.bytes, of: try #require(Self.server))
        #expect(empty.isIdle && empty.interval == nil)
    }

    @Test func `the controller may be called like a link`() throws {
        let place = "https://updates.example/DEFAULT/controller/v1/deploymentBase/deploymentBase/7"
        #expect(try base(#""deploymentBase":{"href":"\#(place)"}"#).deployment == ActionID("7"))
    }

    @Test(arguments: [
        "https://evil.example/controller/v1/bike-1/deploymentBase/5",
        "https://updates.example@evil.example/deploymentBase/5",
        "ftp://updates.example/deploymentBase/5", "//updates.example/deploymentBase/5",
        "https://updates.example/deploymentBase/5/again", "https://updates.example/elsewhere/5",
        "https://updates.example/deploymentBase/%2e%2e", "https://updates.example/deploymentBase",
        "https://updates.example/deploymentBase/", "javascript:alert(1)", "",
    ])
    func `a link to somewhere else is refused`(address: String) {
        #expect(throws: DocumentFault.strayLink("deploymentBase")) {
            try base(#""deploymentBase":{"href":"\#(address)"}"#)
        }
    }

    @Test(arguments: [
        "", "[]", "null", "{", #"{"config":{"polling":{"sleep":"soon"}}}"#,
        #"{"config":{"polling":{"sleep":"00:99:00"}}}"#, #"{"_links":{"deploymentBase":{}}}"#,
        #"{"_links":{"deploymentBase":{"href":5}}}"#, #"{"_links":{},"_links":{}}"#,
    ])
    func `an answer to a poll that makes no sense is refused`(text: String) throws {
        let server = try #require(Self.server)
        #expect(throws: DocumentFault.self) { try ControllerBase(text.bytes, of: server) }
    }

    // MARK: Actions

    private static let hash = String(repeating: "ab", count: 32)

    private static func deployment(
        id: String = #""5""#,
        update: String = "forced",
        window: String = "",
        size: String = "13",
        hashes: String = #""sha256":"\#(DocumentTests.hash)""#,
        link: String = #""download":{"href":"https://cdn.example/a.zip"}"#,
        more: String = ""
    ) -> [UInt8] {
        (#"{"id":\#(id),"deployment":{"download":"forced","update":"\#(update)",\#(window)"chunks":[{"#
            + #""part":"os","version":"4.12.0","name":"city","artifacts":[{"filename":"a.zip","#
            + #""hashes":{\#(hashes)},"size":\#(size),"_links":{\#(link)}}]\#(more)}]}}"#).bytes
    }

    private func read(_ bytes: [UInt8]) throws -> Deployment {
        try Deployment(bytes, of: try #require(ActionID("5")))
    }

    @Test func `an action has modules with files`() throws {
        let action = try read(Self.deployment())
        #expect(action.isWanted && !action.isDownloadOnly && action.modules.count == 1)
        let artifact = try #require(action.modules.first?.artifacts.first)
        #expect(artifact.file == "a.zip" && artifact.size.bytes == 13)
        #expect(artifact.digests.sha256?.description == Self.hash)
    }

    @Test func `an action is wanted only when it is to be done now`() throws {
        let closed = #""maintenanceWindow":"unavailable","#
        let later = try read(Self.deployment(update: "skip", window: closed))
        #expect(!later.isWanted && !later.isDownloadOnly)
        let only = try read(Self.deployment(update: "skip"))
        #expect(!only.isWanted && only.isDownloadOnly)
        let open = #""maintenanceWindow":"available","#
        #expect(try read(Self.deployment(update: "attempt", window: open)).isWanted)
    }

    @Test(arguments: [
        deployment(id: #""6""#), deployment(id: #""a/b""#), deployment(id: "null"),
        deployment(update: "now"), deployment(window: #""maintenanceWindow":"perhaps","#),
        deployment(size: "0"), deployment(size: "-1"), deployment(size: "1e9"),
        deployment(size: "99999999999999999999"), deployment(hashes: ""),
        deployment(hashes: #""md5":"d04440e6533863247655ac5fd4345bcc""#),
        deployment(hashes: #""sha256":"abc""#), deployment(hashes: #""sha1":"zz""#),
        deployment(link: ""), deployment(link: #""download":{"href":7}"#),
        deployment(id: #""5","id":"5""#), Array("[]".utf8), [],
    ])
    func `an action that makes no sense is refused`(bytes: [UInt8]) {
        #expect(throws: DocumentFault.self) { try read(bytes) }
    }

    @Test func `an action with endless parts is refused`() {
        let artifact =
            #"{"filename":"a","hashes":{"sha256":"\#(Self.hash)"},"size":1,"#
            + #""_links":{"download":{"href":"https://a.example/a"}}}"#
        let many = [String](repeating: artifact, count: 65).joined(separator: ",")
        let text =
            #"{"id":"5","deployment":{"download":"forced","update":"forced","chunks":[{"#
            + #""version":"1","name":"n","artifacts":[\#(many)]}]}}"#
        #expect(throws: DocumentFault.tooMany("artifacts", limit: 64)) { try read(text.bytes) }
    }

    @Test func `a demand is the same at another address, and another with other bytes`() throws {
        let one = try read(Self.deployment()).demand
        let moved = #""download":{"href":"https://mirror.example/a.zip"}"#
        #expect(try read(Self.deployment(link: moved)).demand == one)
        #expect(try read(Self.deployment(size: "14")).demand != one)
        let other = #""sha256":"\#(String(repeating: "cd", count: 32))""#
        #expect(try read(Self.deployment(hashes: other)).demand != one)
    }

    @Test func `a file matches only when all its digests do`() throws {
        let bytes = "thirteen byte".bytes
        let (long, short) = (SHA256.digest(of: bytes), Hex.text(SHA1.digest(of: bytes)))
        func digests(_ sha256: String, _ sha1: String) throws -> ArtifactDigests {
            let hashes = #""sha256":"\#(sha256)","sha1":"\#(sha1)""#
            let action = try read(Self.deployment(hashes: hashes))
            return try #require(action.modules.first?.artifacts.first).digests
        }
        #expect(try digests("\(long)", short).match(bytes))
        #expect(try !digests(Self.hash, short).match(bytes))
        #expect(try !digests("\(long)", String(repeating: "0", count: 40)).match(bytes))
    }

    @Test func `a wish to cancel names its action`() throws {
        let order = try CancelOrder(#"{"id":"11","cancelAction":{"stopId":"11"}}"#.bytes)
        #expect(order.stops == ActionID("11"))
        for text in ["{}", #"{"cancelAction":{}}"#, #"{"cancelAction":{"stopId":"a b"}}"#] {
            #expect(throws: DocumentFault.wrong("stopId")) { try CancelOrder(text.bytes) }
        }
    }

    @Test func `feedback has the words of the interface`() throws {
        let body = Feedback(.closed, .success, "run 3: 4.12.0").body(
            of: try #require(ActionID("5"))
        )
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"id":"5","status":{"execution":"closed","result":{"finished":"success"},"#
                + #""details":["run 3: 4.12.0"]}}"#
        )
    }
}
