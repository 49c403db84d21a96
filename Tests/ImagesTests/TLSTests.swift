import Base
import Images
import Testing
import Workbench

/// The servers from which images are accepted, and the certificate that is shown to them.
@Suite struct TLSTests {
    private static let file = random(50_000, seed: 61)
    private static let digest = SHA256.digest(of: file)

    private static func folder() throws -> Scratch {
        let scratch = try Scratch()
        try makeCertificates(in: scratch.path)
        let head = "HTTP/1.0 200 OK\r\nContent-Length: \(file.count)\r\n\r\n"
        try write(Array(head.utf8) + file, to: scratch.path + "/image.bin")
        return scratch
    }

    private static func get(
        _ url: String,
        _ folder: Scratch,
        _ change: (inout FetchSettings) -> Void
    ) async throws -> Result<[UInt8], FetchError> {
        try await fetch(
            try request(digest),
            from: [try web(url)],
            into: folder.path + "/state",
            settings: hastySettings {
                $0.attempts = 2
                change(&$0)
            }
        )
    }

    private static func isTLS(_ error: OriginError?) -> Bool {
        if case .download(.tls) = error { return true }
        return false
    }

    private static func serving(_ folder: Scratch, as name: String) throws -> TLSServer {
        try TLSServer(
            in: folder.path,
            ["-cert", "\(folder.path)/\(name).pem", "-key", "\(folder.path)/\(name).key"]
        )
    }

    @Test func `a private authority is trusted when it is named, and then alone`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let server = try Self.serving(folder, as: "server")
        let unknown = try await Self.get(server.url(), folder) { _ in }
        #expect(Self.isTLS(unknown.firstReason), "\(unknown)")
        let wrong = try await Self.get(server.url(), folder) {
            $0.authorities = folder.path + "/stranger.pem"
        }
        #expect(Self.isTLS(wrong.firstReason), "\(wrong)")
        let missing = try await Self.get(server.url(), folder) {
            $0.authorities = folder.path + "/none.pem"
        }
        guard case .download(.configuration) = missing.firstReason else {
            Issue.record("\(missing)")
            return
        }
        let right = try await Self.get(server.url(), folder) {
            $0.authorities = folder.path + "/authority.pem"
        }
        #expect(try right.get() == Self.file)
    }

    @Test func `a certificate for another host is refused`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let server = try Self.serving(folder, as: "elsewhere")
        let result = try await Self.get(server.url(), folder) {
            $0.authorities = folder.path + "/authority.pem"
        }
        #expect(Self.isTLS(result.firstReason), "\(result)")
    }

    @Test func `an older TLS than 1.2 is refused`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let server = try TLSServer(
            in: folder.path,
            [
                "-cert", "\(folder.path)/server.pem", "-key", "\(folder.path)/server.key",
                "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0",
            ]
        )
        let result = try await Self.get(server.url(), folder) {
            $0.authorities = folder.path + "/authority.pem"
        }
        #expect(Self.isTLS(result.firstReason), "\(result)")
    }

    @Test func `a server that asks who we are gets our certificate`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let server = try TLSServer(
            in: folder.path,
            [
                "-cert", "\(folder.path)/server.pem", "-key", "\(folder.path)/server.key",
                "-Verify", "1", "-verify_return_error", "-CAfile", "\(folder.path)/authority.pem",
            ]
        )
        for (name, isRight) in [(nil, false), ("by-stranger", false), ("by-authority", true)] {
            let result = try await Self.get(server.url(), folder) {
                $0.authorities = folder.path + "/authority.pem"
                $0.certificate = name.map { "\(folder.path)/\($0).pem" }
                $0.key = name.map { "\(folder.path)/\($0).key" }
            }
            if isRight {
                #expect(try result.get() == Self.file)
            } else {
                #expect(result.firstReason != nil, "\(name ?? "none")")
            }
        }
        let keyless = try await fetch(
            try request(SHA256.digest(of: [1])),
            from: [try web(server.url())],
            into: folder.path + "/state",
            settings: hastySettings {
                $0.authorities = folder.path + "/authority.pem"
                $0.certificate = folder.path + "/by-authority.pem"
                $0.key = folder.path + "/none.key"
            }
        )
        guard case .download(.configuration) = keyless.firstReason else {
            Issue.record("\(keyless)")
            return
        }
    }

    @Test func `no redirect leads from https to http`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let plain = try HostileServer { _, connection in connection.answer("200 OK", [], Self.file)
        }
        let head = "HTTP/1.0 302 Found\r\nLocation: \(plain.url())\r\nContent-Length: 0\r\n\r\n"
        try write(Array(head.utf8), to: folder.path + "/moved")
        let server = try Self.serving(folder, as: "server")
        let result = try await Self.get(server.url("moved"), folder) {
            $0.authorities = folder.path + "/authority.pem"
        }
        #expect(result.firstReason == .download(.weakerRedirect))
        #expect(plain.seen.isEmpty)
    }

    @Test func `what once went to https never goes back to http`() async throws {
        let folder = try Self.folder()
        try run("mkdir", "-p", folder.path + "/state")
        let last = try HostileServer { _, connection in connection.answer("200 OK", [], Self.file) }
        let moved = "HTTP/1.0 302 Found\r\nLocation: \(last.url())\r\nContent-Length: 0\r\n\r\n"
        try write(Array(moved.utf8), to: folder.path + "/moved")
        let server = try Self.serving(folder, as: "server")
        let first = try HostileServer { request, connection in
            let next = request.path == "/up" ? server.url("moved") : last.url()
            connection.answer("302 Found", ["Location: \(next)"])
        }
        func get(_ path: String) async throws -> Result<[UInt8], FetchError> {
            try await fetch(
                try request(SHA256.digest(of: Self.file)),
                from: [try web(first.url(path))],
                into: folder.path + "/state",
                settings: hastySettings { $0.authorities = folder.path + "/authority.pem" }
            )
        }
        #expect(try await get("/up").firstReason == .download(.weakerRedirect))
        #expect(first.seen.count == 1)
        #expect(last.seen.isEmpty)
        // A redirect from http to http is what the manifest has allowed.
        #expect(try await get("/same").get() == Self.file)
    }

    @Test func `a proxy is used where it is named, and its refusal is reported`() async throws {
        let folder = try Scratch()
        let proxy = try HostileServer { request, connection in
            if request.head.hasPrefix("CONNECT") {
                connection.answer("407 Proxy Authentication Required")
            } else {
                connection.answer("200 OK", [], Self.file)
            }
        }
        func get(_ url: String) async throws -> Result<[UInt8], FetchError> {
            try await fetch(
                try request(Self.digest),
                from: [try web(url)],
                into: folder.path,
                settings: hastySettings {
                    $0.proxy = WebAddress(proxy.url(""), allowsHTTP: true)
                    $0.withoutProxy = ""
                }
            )
        }
        #expect(
            try await get("https://images.invalid/a").firstReason
                == .download(.proxy("it answers 407"))
        )
        #expect(try await get("http://images.invalid/a").get() == Self.file)
        #expect(proxy.seen.last?.head.hasPrefix("GET http://images.invalid/a ") == true)
    }
}
