import Foundation
import Synchronization
import Workbench

/// A server that says who it is, answers the next statement with an error, and never says that it is ready again.
final class HalfServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let count = Mutex(0)

    /// The sessions so far.
    var sessions: Int { count.withLock { $0 } }

    /// `told` is what it says first about its number, and `said` what it answers when it is asked.
    init(error code: String, told: UInt8 = 7, said: Character = "7") throws {
        (listener, port) = try boundSocket()
        guard listen(listener, 8) == 0 else { throw FileFailure("to listen on the loopback") }
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                self?.talk(client, code, told, said)
                close(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func talk(_ client: Int32, _ code: String, _ told: UInt8, _ said: Character) {
        func take(_ length: Int) -> [UInt8]? {
            // The system would wait for the next byte.
            guard length > 0 else { return [] }
            var bytes = [UInt8](repeating: 0, count: length)
            return recv(client, &bytes, length, Int32(MSG_WAITALL)) == length ? bytes : nil
        }
        func give(_ bytes: [UInt8]) { send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
            [kind.asciiValue ?? 0, 0, 0, 0, UInt8(body.count + 4)] + body
        }
        while let head = take(8) {
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            // A question for TLS or another encryption has no parameters.
            if length == 8 {
                give(Array("N".utf8))
                continue
            }
            // A request to cancel a statement comes over a connection of its own.
            guard length != 16, take(length - 8) != nil else { return }
            break
        }
        count.withLock { $0 += 1 }
        let fields = Array("SERROR\0C\(code)\0Mno\0".utf8)
        // It may write, so that it is not asked.
        let status = [
            "server_version\u{0}15.0\u{0}", "in_hot_standby\u{0}off\u{0}",
            "default_transaction_read_only\u{0}off\u{0}",
        ]
        give(message("R", [0, 0, 0, 0]))
        for line in status { give(message("S", Array(line.utf8))) }
        give(message("K", [0, 0, 0, told, 0, 0, 0, 1]))
        give(message("Z", Array("I".utf8)))
        // Its number is asked for, until the last message of the request.
        while let head = take(5), take(head[1...].reduce(0) { $0 << 8 | Int($1) } - 4) != nil {
            if head[0] == UInt8(ascii: "S") { break }
        }
        give(message("1", []) + message("2", []))
        give(
            message(
                "T",
                [0, 1, 110, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0]
            )
        )
        give(message("D", [0, 1, 0, 0, 0, 1, said.asciiValue ?? 0]))
        give(message("C", Array("SELECT 1\0".utf8)) + message("Z", Array("I".utf8)))
        // The first part of the statement is enough; then all is read until the session ends.
        guard take(1) != nil else { return }
        give(message("E", fields + [0]))
        _ = take(1 << 16)
    }
}
