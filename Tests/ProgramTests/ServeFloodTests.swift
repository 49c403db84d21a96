import Foundation
import Testing
import Workbench

/// `serve` with more connections than it accepts.
@Suite(.serialized) struct ServeFloodTests {
    /// Connections of one client that sends nothing, opened without waiting for any of them.
    private final class Flood {
        private(set) var sockets: [Int32] = []

        init(_ count: Int, port: UInt16) throws {
            try Self.allow(descriptors: count + 1_000)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            for _ in 0..<count {
                let socket = Glibc.socket(AF_INET, kind, 0)
                try #require(
                    socket >= 0,
                    "\(sockets.count) connections are all that this machine allows"
                )
                sockets.append(socket)
                let code = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                try #require(code == 0 || errno == EINPROGRESS)
            }
        }

        private static func allow(descriptors: Int) throws {
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            guard limit.rlim_cur < descriptors else { return }
            limit.rlim_cur = min(limit.rlim_max, rlim_t(descriptors))
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        }

        func end() {
            for socket in sockets { close(socket) }
            sockets = []
        }

        deinit { end() }
    }

    @Test func `ten thousand connections take no more room than its limit, and change nothing`()
        throws
    {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo("depot-troubled"))
        let serving = try Serving(program)
        let before = try serving.get("/api/v1/status").text
        let few = serving.descriptors
        let flood = try Flood(10_000, port: serving.port)
        #expect(flood.sockets.count == 10_000)
        try wait(for: "the server to have as many as it takes") { serving.descriptors >= few + 100 }
        // 128 connections, and the program's own open files.
        #expect(serving.descriptors <= few + 128 + 16, "\(few), \(serving.descriptors)")
        flood.end()
        #expect(try serving.get("/api/v1/status").text == before)
        #expect(serving.stop() == 143)
    }
}
