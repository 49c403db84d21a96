import Foundation
import Synchronization

/// A web server over TLS that sends files as whole answers, and certificates for it.
package final class TLSServer: Sendable {
    package let port: Int
    private let process: Mutex<Process>

    /// Starts in `folder`, in which each file is an answer with its headers.
    package init(in folder: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-HTTP"] + arguments
        process.currentDirectoryURL = URL(filePath: folder)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var text = ""
        var port: Int?
        while port == nil {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
            port = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first { $0.hasPrefix("ACCEPT 127.0.0.1:") }
                .flatMap { Int($0.dropFirst("ACCEPT 127.0.0.1:".count)) }
        }
        // The output is read to its end, so that the server never blocks on it.
        output.fileHandleForReading.readabilityHandler = { handle in
            if handle.availableData.isEmpty { handle.readabilityHandler = nil }
        }
        guard let port else { throw FileFailure("to serve over TLS: \(text)") }
        self.port = port
        self.process = Mutex(process)
    }

    deinit { process.withLock { $0.terminate() } }

    package func url(_ name: String = "image.bin") -> String { "https://127.0.0.1:\(port)/\(name)" }
}

/// Makes an authority and certificates signed by it in a folder: `NAME.pem` and `NAME.key`.
package func makeCertificates(in folder: String) throws {
    func openssl(_ arguments: String) throws {
        let words = arguments.split(separator: " ").map { word -> String in
            word.hasPrefix("@") ? folder + "/" + word.dropFirst() : String(word)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw FileFailure("openssl \(arguments)") }
    }
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    for authority in ["authority", "stranger"] {
        try openssl(
            "req -x509 \(key) -keyout @\(authority).key -out @\(authority).pem -days 2 "
                + "-subj /CN=\(authority)"
        )
    }
    for (name, address) in [("server", "IP:127.0.0.1"), ("elsewhere", "DNS:example.org")] {
        try openssl(
            "req \(key) -keyout @\(name).key -out @\(name).csr -subj /CN=\(name) "
                + "-addext subjectAltName=\(address)"
        )
        try openssl(
            "x509 -req -in @\(name).csr -CA @authority.pem -CAkey @authority.key "
                + "-CAcreateserial -copy_extensions copy -days 2 -out @\(name).pem"
        )
    }
    for authority in ["authority", "stranger"] {
        try openssl("req \(key) -keyout @by-\(authority).key -out @c.csr -subj /CN=depot")
        try openssl(
            "x509 -req -in @c.csr -CA @\(authority).pem -CAkey @\(authority).key "
                + "-CAcreateserial -days 2 -out @by-\(authority).pem"
        )
    }
}
