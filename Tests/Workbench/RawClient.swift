import Foundation

/// A client that sends any bytes over a socket, and reads the answer.
package final class RawClient {
    package let socket: Int32

    /// Connects to an IPv4 port of the loopback.
    package init(port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let socket = socket
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw NotInTime(description: "no connection to port \(port)") }
    }

    /// Connects to a unix socket.
    package init(path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let socket = socket
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw NotInTime(description: "no connection to \(path)") }
    }

    deinit { close(socket) }

    /// False when the server accepts no more bytes.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

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

    /// The rest of the bytes, up to the end of the connection.
    package func rest() throws -> [UInt8] { try read { _ in false } }

    /// The text up to the moment when it contains `words`.
    @discardableResult
    package func text(until words: String) throws -> String {
        let bytes = try read { String(decoding: $0, as: UTF8.self).contains(words) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether bytes, or the end, have arrived.
    package var hasNews: Bool {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }

    private func read(until isEnough: ([UInt8]) -> Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(bytes) {
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 120_000) > 0 else {
                throw NotInTime(
                    description: "waited for the server; it had said "
                        + String(decoding: bytes.prefix(500), as: UTF8.self)
                )
            }
            let count = recv(socket, &buffer, buffer.count, 0)
            // A reset connection has also ended.
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
        return bytes
    }
}

/// A parsed answer over HTTP.
package struct RawAnswer {
    package let status: Int
    package let head: String
    package let body: [UInt8]

    package init(_ bytes: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        var cut = bytes.count
        if bytes.count >= 4 {
            for index in 0...(bytes.count - 4) where Array(bytes[index..<index + 4]) == end {
                cut = index
                break
            }
        }
        head = String(decoding: bytes[..<cut], as: UTF8.self)
        body = Array(bytes.dropFirst(cut + 4))
        let words = head.split(separator: " ")
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? {
        head.split(separator: "\r\n").first {
            $0.lowercased().hasPrefix(name.lowercased() + ":")
        }.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
