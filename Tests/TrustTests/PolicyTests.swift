import Base
import Images
import Testing

/// The signers' statements about a release, besides that it is genuine.
@Suite struct PolicyTests {
    private static let now = WallTime(milliseconds: 1_795_219_200_000)
    private static let city = HardwareID(family: Family(rawValue: "comodule"), type: 17, variant: 0)

    private func claim(
        _ version: String = "4.12.0",
        hardware: HardwareID = city
    ) throws -> ReleaseClaim {
        ReleaseClaim(
            image: "city",
            hardware: hardware,
            version: try #require(FirmwareVersion(version)),
            digest: try #require(SHA256Digest(bytes: Array(repeating: 7, count: 32)))
        )
    }

    private func statement(_ json: String) throws -> ReleaseStatement {
        try ReleaseStatement(custom: JSONValue(json: #"{"yardmaster":\#(json)}"#))
    }

    private func check(
        _ statement: ReleaseStatement,
        _ claim: ReleaseClaim,
        lists: ReleaseLists = ReleaseLists(),
        ledger: ReleaseLedger = ReleaseLedger(),
        grace: Duration = .zero
    ) throws(PolicyRefusal) {
        try statement.check(claim, lists: lists, ledger: ledger, now: Self.now, grace: grace)
    }

    @Test func `a signer who says nothing refuses nothing`() throws {
        try check(.silent, claim())
        try check(ReleaseStatement(custom: nil), claim())
        try check(ReleaseStatement(custom: .object(["other": 1])), claim())
        try check(ReleaseStatement(comment: "timestamp:1 file:city.zip hashed"), claim())
    }

    @Test(arguments: [
        (#"["comodule-17-0"]"#, true), (#"["comodule-17"]"#, true), (#"["comodule"]"#, true),
        (#"["comodule-18", "comodule-17-0"]"#, true), (#"["comodule-18"]"#, false),
        (#"["comodule-17-1"]"#, false), (#"["mcumgr"]"#, false),
    ])
    func `the image is only for the modules it is signed for`(ids: String, fits: Bool) throws {
        let statement = try statement(#"{"hardware":\#(ids)}"#)
        let claim = try claim()
        if fits {
            try check(statement, claim)
        } else {
            #expect {
                try check(statement, claim)
            } throws: { error in
                guard case PolicyRefusal.wrongHardware(_, Self.city) = error else { return false }
                return "\(error)".contains("would put it on comodule-17-0")
            }
        }
    }

    @Test func `a manifest that asks for more modules than are signed is refused`() throws {
        let statement = try statement(#"{"hardware":["comodule-17-0"]}"#)
        for wide in [
            HardwareID(family: Family(rawValue: "comodule"), type: 17, variant: nil),
            HardwareID(family: Family(rawValue: "comodule"), type: nil, variant: nil),
        ] {
            #expect(throws: PolicyRefusal.self) { try check(statement, claim(hardware: wide)) }
        }
    }

    @Test func `an older release is not taken back`() throws {
        var ledger = ReleaseLedger()
        ledger.note(try claim(), try statement(#"{"hardware":["comodule-17-0"],"counter":5}"#))
        let again = try statement(#"{"counter":5}"#)
        try check(again, claim(), ledger: ledger)
        try check(statement(#"{"counter":6}"#), claim("4.13.0"), ledger: ledger)
        let older = try statement(#"{"counter":4}"#)
        #expect(throws: PolicyRefusal.olderRelease(counter: 4, seen: 5, hardware: Self.city)) {
            try check(older, claim("4.11.0"), ledger: ledger)
        }
        #expect(throws: PolicyRefusal.uncounted(seen: 5, hardware: Self.city)) {
            try check(.silent, claim("4.11.0"), ledger: ledger)
        }
        // Other modules have their own releases.
        let scooter = HardwareID(family: Family(rawValue: "comodule"), type: 18, variant: 0)
        try check(older, claim("4.11.0", hardware: scooter), ledger: ledger)
    }

    @Test func `the release on the way to the newest is still taken`() throws {
        var ledger = ReleaseLedger()
        let newest = try statement(#"{"counter":5,"predecessor":"4.8.0"}"#)
        ledger.note(try claim(), newest)
        try check(statement(#"{"counter":3}"#), claim("4.8.0"), ledger: ledger)
        #expect(throws: PolicyRefusal.self) {
            try check(statement(#"{"counter":4}"#), claim("4.11.0"), ledger: ledger)
        }
    }

    @Test func `the ledger only rises and survives a restart`() throws {
        var ledger = ReleaseLedger()
        ledger.note(try claim(), try statement(#"{"counter":5}"#))
        ledger.note(try claim("4.11.0"), try statement(#"{"counter":4}"#))
        #expect(ledger.lines.map(\.counter) == [5])
        #expect(ReleaseLedger(ledger.bytes) == ledger)
        ledger.note(try claim("4.13.0"), try statement(#"{"counter":6,"predecessor":"4.12.0"}"#))
        #expect(ledger.lines.map(\.counter) == [6])
        #expect(ReleaseLedger(ledger.bytes) == ledger)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"form":2,"releases":[]}"#, #"{"form":1,"releases":[{}]}"#,
        #"{"form":1,"releases":[{"hardware":"x","counter":1,"version":"1.0"}]}"#,
    ])
    func `a damaged ledger is not taken for an empty one`(text: String) {
        #expect(ReleaseLedger(Array(text.utf8)) == nil)
    }

    @Test func `a release that expired has its grace and no more`() throws {
        let statement = try statement(#"{"expires":"2026-11-20T00:00:00Z"}"#)
        #expect(throws: PolicyRefusal.self) { try check(statement, claim()) }
        try check(statement, claim(), grace: .seconds(86_400 + 1))
        #expect(throws: PolicyRefusal.self) {
            try check(statement, claim(), grace: .seconds(86_400))
        }
    }

    @Test func `a version other than the signed one is refused`() throws {
        let statement = try statement(#"{"version":"4.12.0"}"#)
        try check(statement, claim("4.12"))
        #expect(throws: PolicyRefusal.self) { try check(statement, claim("4.12.1")) }
    }

    @Test func `lists let in and keep out`() throws {
        let claim = try claim()
        let other = try #require(SHA256Digest(bytes: Array(repeating: 8, count: 32)))
        try check(.silent, claim, lists: ReleaseLists(allowed: [claim.digest, other]))
        try check(.silent, claim, lists: ReleaseLists(denied: [other]))
        #expect(throws: PolicyRefusal.notAllowed(claim.digest)) {
            try check(.silent, claim, lists: ReleaseLists(allowed: [other]))
        }
        #expect(throws: PolicyRefusal.denied(claim.digest)) {
            let both = ReleaseLists(allowed: [claim.digest], denied: [claim.digest])
            try check(.silent, claim, lists: both)
        }
    }

    @Test(arguments: [
        "1", "[]", #"{"hardware":[]}"#, #"{"hardware":"comodule"}"#, #"{"hardware":["tank"]}"#,
        #"{"counter":-1}"#, #"{"counter":"5"}"#, #"{"counter":1.5}"#, #"{"version":"four"}"#,
        #"{"predecessor":4}"#, #"{"expires":"soon"}"#, #"{"counter":null}"#,
    ])
    func `what is not understood is not taken for silence`(json: String) {
        #expect(throws: StatementFault.self) { try statement(json) }
    }

    @Test func `a trusted comment says the same as custom data`() throws {
        let comment =
            "hardware:comodule-17-0,comodule-18\tcounter:5 version:4.12.0 "
            + "predecessor:4.8.0 expires:2027-01-01T00:00:00Z file:city.zip"
        let custom = """
            {"hardware":["comodule-17-0","comodule-18"],"counter":5,"version":"4.12.0",\
            "predecessor":"4.8.0","expires":"2027-01-01T00:00:00Z"}
            """
        #expect(try ReleaseStatement(comment: comment) == statement(custom))
    }

    @Test(arguments: [
        "counter:x", "counter:", "hardware:", "hardware:a,", "counter:1 counter:2", "version:x",
    ])
    func `a comment that is not understood is not taken for silence`(comment: String) {
        #expect(throws: StatementFault.self) { try ReleaseStatement(comment: comment) }
    }
}
