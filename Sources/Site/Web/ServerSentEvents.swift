import CMicrohttpd
import Operations
import Synchronization

/// Server-sent events to one client.
///
/// Nothing is queued: a slow client gets only the newest number.
final class ServerSentEvents: Sendable {
    private struct State: Sendable {
        /// The newest change, and the last one that was sent.
        var change: Int
        var told: Int?
        /// Whether a comment is due, so that no intermediary takes the silence for an end.
        var beats = false
        var isOver = false
        /// The rest of an event that was partly written.
        var rest: ArraySlice<UInt8> = []
        /// The address of the connection while it is suspended.
        var suspended: UInt?
    }

    private let state: Mutex<State>
    private let closed: @Sendable (ServerSentEvents) -> Void

    init(_ change: Int, closed: @escaping @Sendable (ServerSentEvents) -> Void) {
        state = Mutex(State(change: change))
        self.closed = closed
    }

    func announce(_ number: Int) { wake { $0.change = number } }

    func beat() { wake { $0.beats = true } }

    func end() { wake { $0.isOver = true } }

    /// The library has removed the client.
    func close() { closed(self) }

    private func wake(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard let connection = state.suspended else { return }
            state.suspended = nil
            // Under the lock, so that the connection is not freed meanwhile: freeing it requires a
            // read first.
            web_resume(UnsafeMutableRawPointer(bitPattern: connection))
        }
    }

    /// Called on the library's thread: returns the next bytes, -1 at the end, 0 when there are none
    /// yet.
    func read(_ connection: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawBufferPointer) -> Int
    {
        state.withLock { state in
            if state.isOver { return -1 }
            if state.rest.isEmpty { state.rest = Array(Self.next(&state).utf8)[...] }
            guard !state.rest.isEmpty else {
                state.suspended = UInt(bitPattern: connection)
                web_suspend(connection)
                return 0
            }
            let piece = state.rest.prefix(bytes.count)
            bytes.copyBytes(from: piece)
            state.rest = state.rest.dropFirst(piece.count)
            return piece.count
        }
    }

    private static func next(_ state: inout State) -> String {
        defer { state.beats = false }
        guard state.told != state.change else { return state.beats ? ":\n\n" : "" }
        let head = state.told == nil ? "retry: 3000\n\n" : ""
        state.told = state.change
        return head + "event: change\nid: \(state.change)\ndata: {\"change\":\(state.change)}\n\n"
    }
}
