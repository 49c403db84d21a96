import Base
import Images
import Testing

/// Header lines and other small texts from servers.
@Suite struct HeaderTests {
    private static func head(_ lines: String...) -> ResponseHead {
        var head = ResponseHead()
        for line in lines { head.take(Array((line + "\r\n").utf8)) }
        return head
    }

    @Test func `a head is read, names in any case`() {
        let head = Self.head(
            "HTTP/1.1 206 Partial Content",
            "content-LENGTH:  100\t",
            "Content-Range: bytes 100-199/200",
            "ETag: \"abc\"",
            "Content-Type: application/zip",
            ""
        )
        #expect(head.status == 206)
        #expect(head.length == 100)
        #expect(head.span?.first == 100 && head.span?.last == 199 && head.span?.total == 200)
        #expect(head.strongValidator == "\"abc\"")
        #expect(head.fault == nil)
    }

    @Test func `the next answer forgets the one before`() {
        let head = Self.head(
            "HTTP/1.1 302 Found",
            "Content-Length: 7",
            "",
            "HTTP/1.1 200 OK",
            "Content-Length: 9"
        )
        #expect(head.status == 200)
        #expect(head.length == 9)
        #expect(head.fault == nil)
    }

    @Test(arguments: [
        "Content-Length: -1", "Content-Length: +1", "Content-Length: 1, 1", "Content-Length:",
        "Content-Length: 9999999999999999999", "Content-Range: bytes 5-4/10",
        "Content-Range: bytes 0-10/10", "Content-Range: bytes 0-1", "Content-Range: lines 0-1/2",
        "Content-Range: bytes -1-2/3", "Content-Range: bytes 0-1/2/3",
    ])
    func `a header that makes no sense is a fault`(line: String) {
        #expect(Self.head("HTTP/1.1 206 Partial Content", line).fault != nil)
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 abc"])
    func `a status line that makes no sense is a fault`(line: String) {
        #expect(Self.head(line).fault != nil)
    }

    @Test(arguments: ["W/\"abc\"", "abc", "\"a\"b\"", "\"a\u{1}b\"", "\"", "\"ä\"", ""])
    func `a weak or broken validator is none`(tag: String) {
        #expect(Self.head("HTTP/1.1 200 OK", "ETag: \(tag)").strongValidator == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)]
    )
    func `a date is read`(text: String, seconds: Int64) {
        #expect(WallTime(httpDate: text)?.milliseconds == seconds * 1_000)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nop 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:4937: GMT",
    ])
    func `what is no such date is none`(text: String) {
        #expect(WallTime(httpDate: text) == nil)
    }

    @Test func `an address shows no secret`() throws {
        let text = "https://user:secret@host.example:8443/a/b?token=hidden#part"
        let address = try #require(WebAddress(text))
        for shown in ["\(address)", address.debugDescription, "\(Origin.web(address))"] {
            #expect(shown == "https://host.example:8443/a/b?…")
        }
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("hidden"))
        #expect(address.host == "host.example:8443")
    }

    @Test(arguments: [
        "http://host/a", "ftp://host/a", "https:///a", "https://:80/a", "https://ho st/a",
        "https://höst/a", "file:///a", "", "https://" + String(repeating: "a", count: 2_048),
    ])
    func `an address that is none is refused`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func `a name is appended as data`() throws {
        let base = try #require(WebAddress("https://host/targets/"))
        let whole = try #require(base.appending(Array("a b/%2F?x#y\u{e9}".utf8)))
        #expect("\(whole)" == "https://host/targets/a%20b/%252F%3Fx%23y%C3%A9")
    }
}
