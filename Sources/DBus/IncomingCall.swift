import Synchronization

/// A call of one of our methods, to be answered once: now or later, from any thread.
///
/// Dropped without an answer it is answered with an error, so that no caller waits in vain. A
/// property that is to be set comes as a call of `Set`, with name, property and value.
package final class IncomingCall: Sendable {
    package let path: ObjectPath
    package let interface: String
    package let member: String
    package let arguments: [DBusValue]
    /// The caller's unique name.
    package let sender: String

    private let serial: UInt32
    private let connection: Connection
    private let isAnswered: Atomic<Bool>

    init(_ message: Message, interface: String, on connection: Connection) {
        path = message.path ?? .root
        self.interface = interface
        member = message.member ?? ""
        arguments = message.body
        sender = message.sender ?? ""
        serial = message.serial
        self.connection = connection
        // Who wants no answer gets none.
        isAnswered = Atomic(!message.expectsReply)
    }

    deinit { answer(.failure(.notAnswered)) }

    package func reply(_ values: DBusValue...) { answer(.success(values)) }
    package func fail(_ error: ErrorReply) { answer(.failure(error)) }

    /// The first answer counts, the others are dropped.
    package func answer(_ result: Result<[DBusValue], ErrorReply>) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
        connection.answer(serial, of: sender, result)
    }
}
