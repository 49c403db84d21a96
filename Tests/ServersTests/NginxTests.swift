import Base
import Foundation
import Images
import Servers
import Site
import Testing
import Workbench

/// An update server behind nginx, as companies run it: a certificate of the client, and a token.
@Suite struct NginxTests {
    /// Debian's, or the one that `YARDMASTER_NGINX` names.
    private static let program = [
        ProcessInfo.processInfo.environment["YARDMASTER_NGINX"], "/usr/sbin/nginx",
    ].compactMap(\.self).first { FileManager.default.isExecutableFile(atPath: $0) }

    private func withNginx(_ body: (String, String) async throws -> Void) async throws {
        let scratch = try Scratch()
        let folder = scratch.path
        try makeCertificates(in: folder)
        let port = try withExtendedLifetime(ClosedPort()) { $0.number }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/tmp;"
        }
        let text = """
            daemon off;
            master_process off;
            pid \(folder)/pid;
            error_log \(folder)/log;
            events {}
            http {
                access_log off;
                \(temporary.joined(separator: "\n"))
                server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(folder)/server.pem;
                    ssl_certificate_key \(folder)/server.key;
                    ssl_client_certificate \(folder)/authority.pem;
                    ssl_verify_client on;
                    location /DEFAULT/controller/v1/ {
                        if ($http_authorization != "TargetToken one") { return 401; }
                        default_type application/json;
                        return 200 '{"_links":{}}';
                    }
                }
            }
            """
        try write(text.bytes, to: folder + "/nginx.conf")
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = ["-c", folder + "/nginx.conf", "-e", folder + "/log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It may have this process's blocked signals.
        defer { kill(process.processIdentifier, SIGKILL) }
        try wait(for: "nginx") { FileManager.default.fileExists(atPath: folder + "/pid") }
        try await body("https://127.0.0.1:\(port)/DEFAULT", folder)
    }

    private func ask(
        _ url: String,
        _ folder: String,
        certificate: String,
        token: String
    ) async throws -> ServerAnswer {
        let text = serversText.replacing(
            "url: https://updates.example/DEFAULT",
            with: """
                url: \(url)
                    ca: \(folder)/authority.pem
                    certificate: \(folder)/\(certificate).pem
                    key: \(folder)/\(certificate).key
                    controller-token: "env:TOKEN"
                """
        )
        let settings = try #require(
            ServersReader.read(text.bytes, path: "servers.yaml").servers?.first
        )
        let tokens = ["bike-1": Secret(token.bytes)]
        let line = try WebLine(to: settings, with: tokens, time: StillTime(), seed: 1) {
            settings throws(DownloadError) in
            var settings = settings
            (settings.proxy, settings.withoutProxy) = (nil, "*")
            return try WebSession(settings)
        }
        let answer = await line.ask(ServerRequest(.get, "bike-1"))
        await line.end()
        return answer
    }

    @Test(.enabled(if: program != nil, "nginx is not installed"))
    func
        `nginx lets a controller in with its token and the gateway's certificate, and nobody else`()
        async throws
    {
        try await withNginx { url, folder in
            let good = try await ask(url, folder, certificate: "by-authority", token: "one")
            #expect(good == .success(#"{"_links":{}}"#.bytes))
            let token = try await ask(url, folder, certificate: "by-authority", token: "two")
            #expect(token == .failure("the server refuses the token for bike-1"))
            let stranger = try await ask(url, folder, certificate: "by-stranger", token: "one")
            guard case .failure(let why) = stranger else {
                Issue.record("\(stranger)")
                return
            }
            #expect(why != "the server refuses the token for bike-1")
        }
    }
}
