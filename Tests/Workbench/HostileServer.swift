import Foundation
import Synchronization

/// A web server on the loopback that sends anything that a test chooses.
package final class HostileServer: Sendable {
    /// A request as it was received.
    package struct Request: Sendable {
        package let head: String
        /// 0 for the first request to the server.
        package let number: Int

        package func header(_ name: String) -> String? {
            let line = head.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix(name.lowercased() + ":")
            }
            return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        /// The first byte of the requested range.
        package var rangeStart: Int? {
            header("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        }

        package var path: String { String(head.split(separator: " ")[1]) }
    }

    /// The server's side of one request.
    package struct Connection: Sendable {
        package let socket: Int32

        /// False when the client has disconnected.
        @discardableResult
        package func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }

        @discardableResult
        package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Sends a whole answer; its length is announced unless a header does that.
        @discardableResult
        package func answer(_ status: String, _ headers: [String] = [], _ body: [UInt8] = [])
            -> Bool
        {
            var head = "HTTP/1.1 \(status)\r\n"
            for header in headers { head += header + "\r\n" }
            let announces = headers.contains {
                $0.hasPrefix("Content-Length") || $0.hasPrefix("Transfer-Encoding")
            }
            if !announces { head += "Content-Length: \(body.count)\r\n" }
            return send(head + "Connection: close\r\n\r\n") && send(body)
        }

        /// Answers like a correct server that supports ranges.
        package func serve(_ file: [UInt8], tag: String? = nil, to request: Request) {
            let tags = tag.map { ["ETag: \($0)"] } ?? []
            let isSame = request.header("If-Range").map { $0 == tag } ?? true
            guard let start = request.rangeStart, isSame else {
                answer("200 OK", tags, file)
                return
            }
            guard start < file.count else {
                answer("416 Range Not Satisfiable", ["Content-Range: bytes */\(file.count)"])
                return
            }
            answer(
                "206 Partial Content",
                tags + ["Content-Range: bytes \(start)-\(file.count - 1)/\(file.count)"],
                Array(file[start...])
            )
        }

        /// Returns when the client has disconnected, or after this time: true when it has
        /// disconnected.
        @discardableResult
        package func waitForGoodbye(milliseconds: Int32 = 20_000) -> Bool {
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, milliseconds) > 0
        }
    }

    package let port: UInt16
    private let listener: Int32
    private let requests = Mutex<[Request]>([])
    private let onRequest: @Sendable (Request, Connection) -> Void

    package init(_ onRequest: @escaping @Sendable (Request, Connection) -> Void) throws {
        self.onRequest = onRequest
        (listener, port) = try boundSocket()
        guard listen(listener, 64) == 0 else { throw FileFailure("to listen on the loopback") }
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                let server = self
                Thread.detachNewThread { server.talk(Connection(socket: client)) }
            }
        }
    }

    /// A server for a file that cuts its first answer at `count`, so that the client must resume.
    package static func cutting(_ file: [UInt8], at count: Int) throws -> HostileServer {
        try HostileServer { request, connection in
            if request.number == 0 {
                connection.answer(
                    "200 OK",
                    ["ETag: \"a\"", "Content-Length: \(file.count)"],
                    Array(file.prefix(count))
                )
            } else {
                connection.serve(file, tag: "\"a\"", to: request)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The requests so far.
    package var seen: [Request] { requests.withLock { $0 } }

    package func url(_ path: String = "/image.bin") -> String { "http://127.0.0.1:\(port)\(path)" }

    private func talk(_ connection: Connection) {
        defer { close(connection.socket) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(connection.socket, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let request = requests.withLock { requests in
            let request = Request(
                head: String(decoding: head, as: UTF8.self),
                number: requests.count
            )
            requests.append(request)
            return request
        }
        onRequest(request, connection)
        shutdown(connection.socket, Int32(SHUT_WR))
    }
}

/// A port of the loopback that is reserved, so that no program can listen on it.
package final class ClosedPort {
    package let number: UInt16
    private let socket: Int32

    package init() throws { (socket, number) = try boundSocket() }

    deinit { close(socket) }
}

package func boundSocket() throws -> (Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw FileFailure("to make a socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isBound else { throw FileFailure("to bind a socket on the loopback") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}
