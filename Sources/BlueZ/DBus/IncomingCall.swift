import Synchronization

/// A call of one of our methods, to be answered once: now or later, from any thread.
///
/// If it is dropped without an answer, an error is sent, so that no caller waits in vain. Setting a
/// property arrives as a call of `Set`, with name, property and value.
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
        // A caller that requests no answer gets none.
        isAnswered = Atomic(!message.expectsReply)
    }

    deinit { answer(.failure(.notAnswered)) }

    package func reply(_ values: DBusValue...) { answer(.success(values)) }
    package func fail(_ error: ErrorReply) { answer(.failure(error)) }

    /// Sends the first answer; later ones are ignored.
    package func answer(_ result: Result<[DBusValue], ErrorReply>) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
        connection.answer(serial, of: sender, result)
    }
}
