import Base
import Operations
import Site
import Testing

/// The people who may look and act, and the time for which a browser stays signed in.
@Suite struct LiveAccessTests {
    private static let token = String(repeating: "t", count: 40)
    private static let digest = "sha256:\(SHA256.digest(of: Array(token.utf8)))"

    private func read(_ text: String) -> (LiveAccess?, [String]) {
        let (access, diagnostics) = LiveAccess.read(Array(text.utf8), path: "/l/access.yaml")
        return (access, diagnostics.map { "\($0)" })
    }

    @Test(
        arguments: [
            ("Bearer abc", nil, .token("abc")), ("bEARER  abc", nil, .token(" abc")),
            ("Bearer", nil, .nobody), ("Basic abc", nil, .nobody), ("", nil, .nobody),
            ("Bearer abc", "yardmaster=s", .token("abc")),
            // A password is for the web server in front of this one.
            ("Basic abc", "yardmaster=s", .session("s")), ("Digest a", "yardmaster=s", .nobody),
            (nil, "a=b; yardmaster=s", .session("s")), (nil, "xyardmaster=s", .nobody),
            (nil, "yardmaster=s; yardmaster=t", .nobody), (nil, nil, .nobody), (nil, "", .nobody),
        ] as [(String?, String?, LiveCredential)]
    )
    func `headers name one person or nobody`(
        authorization: String?,
        cookie: String?,
        expected: LiveCredential
    ) {
        #expect(LiveCredential(authorization: authorization, cookie: cookie) == expected)
    }

    /// Another site on this host cannot set a cookie with this prefix, and none is sent unencrypted.
    @Test
    func `behind TLS only the cookie of this host counts, on the loopback only the plain one`() {
        let both = "yardmaster=p; __Host-yardmaster=h"
        let secure = LiveCredential(authorization: nil, cookie: both, isEncrypted: true)
        #expect(secure == .session("h"))
        #expect(LiveCredential(authorization: nil, cookie: both) == .session("p"))
        let plain = LiveCredential(authorization: nil, cookie: "yardmaster=p", isEncrypted: true)
        #expect(plain == .nobody)
    }

    @Test func `anyone who tries tokens is held up for a minute, and nobody who has one is`() throws
    {
        func token(_ number: Int) -> String { "\(number)" + String(repeating: "t", count: 40) }
        func list(_ numbers: Int...) throws -> LiveAccess {
            let lines = numbers.map { number in
                let digest = SHA256.digest(of: Array(token(number).utf8))
                return "  p\(number): {role: reader, token: \"sha256:\(digest)\"}\n"
            }
            return try #require(read("people:\n" + lines.joined()).0)
        }
        let access = try list(1, 2)
        func person(_ number: Int) -> LiveAccess.Person { access.people[number - 1] }
        var attempts = LiveAttempts()
        func at(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }
        #expect(attempts.look(at: token(1), in: access, at: at(0)) == .accepted(person(1)))
        for number in 0..<LiveAttempts.most {
            #expect(attempts.look(at: "wrong \(number)", in: access, at: at(1)) == .unknown)
        }
        // A right one that was not seen before could be a lucky guess.
        #expect(attempts.look(at: token(2), in: access, at: at(60)) == .late)
        #expect(attempts.look(at: "wrong", in: access, at: at(60)) == .late)
        #expect(attempts.look(at: token(1), in: access, at: at(60)) == .accepted(person(1)))
        #expect(attempts.look(at: token(2), in: access, at: at(61)) == .accepted(person(2)))
        let without = try list(2)
        #expect(attempts.look(at: token(1), in: without, at: at(62)) == .unknown)
    }

    @Test func `a token is somebody's, whole and long enough`() throws {
        let short = "short"
        let (found, faults) = read(
            """
            people:
              anna: {role: operator, token: "\(Self.digest)"}
              weak: {role: operator, token: "sha256:\(SHA256.digest(of: Array(short.utf8)))"}
            """
        )
        #expect(faults == [])
        let access = try #require(found)
        #expect(access.person(with: Self.token)?.author == "anna (serve)")
        #expect(access.person(with: Self.token)?.mayAct == true)
        #expect(access.person(with: Self.token + "t") == nil)
        #expect(access.person(with: String(Self.token.dropLast())) == nil)
        // A token this short could be guessed.
        #expect(access.person(with: short) == nil)
    }

    @Test(arguments: [
        ("people: {anna: {role: boss, token: \"DIGEST\"}}", ":1:23: error: "),
        ("people: {anna: {role: reader}}", ":1:16: error: a person needs the key `token`"),
        (
            "people: {anna: {role: reader, token: \"mine\"}}",
            ":1:31: error: the token of `anna` is no SHA-256 digest"
        ),
        ("people: {\"a b\": {role: reader, token: \"DIGEST\"}}", ":1:10: error: `a b` is no name"),
        (
            "people: {a: {role: reader, token: \"DIGEST\"}, b: {role: operator, token: \"DIGEST\"}}",
            ":1:131: error: two people have this token"
        ),
        ("persons: {}", ":1:1: error: unknown key"),
        ("[]", ":1:1: error: expected"),
    ])
    func `a list that is wrong is refused at its place`(text: String, fault: String) {
        let (access, faults) = read(text.replacing("DIGEST", with: Self.digest))
        #expect(access == nil)
        #expect(faults.contains { $0.contains(fault) }, "\(faults)")
        // The value may be the token itself, so the message does not contain it.
        #expect(!faults.contains { $0.contains("mine") })
    }

    @Test func `a form is sent once, by the browser that has it, for what it is for`() throws {
        let access = try #require(
            read("people: {a: {role: operator, token: \"\(Self.digest)\"}}").0
        )
        let anna = try #require(access.people.first)
        var sessions = LiveSessions()
        let start = Moment(nanoseconds: 0)
        func takes(_ mark: String, _ purpose: String, _ session: String) -> Bool {
            sessions.take(mark, for: purpose, from: session)
        }
        func person(_ session: String, _ access: LiveAccess, _ now: Moment) -> LiveAccess.Person? {
            sessions.person(of: session, in: access, at: now)
        }
        sessions.begin("one", anna, at: start)
        sessions.begin("two", anna, at: start)
        sessions.give("m", for: "pause", to: "one")
        #expect(!takes("m", "abort", "one"))
        #expect(!takes("m", "pause", "two"))
        #expect(!takes("n", "pause", "one"))
        #expect(takes("m", "pause", "one"))
        #expect(!takes("m", "pause", "one"))
        // Of many forms, only the last ones are valid.
        for number in 0..<40 { sessions.give("\(number)", for: "pause", to: "one") }
        #expect(!takes("0", "pause", "one"))
        #expect(takes("39", "pause", "one"))
        // A session ends after its longest time, and when its person is removed.
        let late = start.advanced(by: LiveSessions.longest)
        #expect(person("one", access, start) == anna)
        #expect(person("one", access, late) == nil)
        #expect(!takes("38", "pause", "one"))
        let nobody = try #require(read("people: {}").0)
        #expect(person("two", nobody, start) == nil)
        #expect(person("two", access, start) == nil)
        // The number of sessions is limited, however many people sign in.
        for number in 0..<200 { sessions.begin("s\(number)", anna, at: start) }
        #expect(sessions.count <= 64)
    }

    @Test(
        arguments: [
            ("http://depot.example", nil, "depot.example", true),
            ("https://Depot.example:8443", "same-origin", "depot.EXAMPLE:8443", true),
            ("https://depot.example", "same-site", "depot.example", false),
            ("https://depot.example:8443", nil, "depot.example", false),
            ("https://evil.example", nil, "depot.example", false),
            ("ftp://depot.example", nil, "depot.example", false),
            ("null", "same-origin", "depot.example", false),
            (nil, "same-origin", "depot.example", false),
            ("http://", nil, "", false),
        ] as [(String?, String?, String, Bool)]
    )
    func `a form of ours comes from where it was shown`(
        origin: String?,
        site: String?,
        host: String,
        isOurs: Bool
    ) {
        #expect(LiveOrigin.isOurs(origin: origin, site: site, host: host) == isOurs)
    }
}
