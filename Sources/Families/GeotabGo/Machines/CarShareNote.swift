import Domain

/// Something that a session passed over, told so that it does not go unseen.
package enum CarShareNote: Hashable, Sendable, CustomStringConvertible {
    /// Bytes that came while no session was open.
    case bytesOutsideSession(Int)
    case emptyWrite
    /// A valid frame that says nothing to a car-share host.
    case frame(AddOnType)
    /// The vehicle began the handshake again, and was answered.
    case handshakeRepeated
    /// An acceptance or rejection of nothing that was sent.
    case replyToNothing(accepted: Bool)
    /// A message while no command was under way.
    case messageToNothing(length: Int)
    /// The vehicle said something a second time that was understood already.
    case repeated(length: Int)
    /// Bytes that were no frame while no command was under way.
    case damaged(AddOnFrameError)
    /// The vehicle answered a message that it never accepted: taken as accepted.
    case answeredUnaccepted

    package var description: String {
        switch self {
        case .bytesOutsideSession(let count): "\(count) bytes came outside a session"
        case .emptyWrite: "a write without a byte"
        case .frame(let type):
            "passed over a frame of type 0x\(Hex.text([type.rawValue])), which is not for us"
        case .handshakeRepeated: "the vehicle began the handshake again"
        case .replyToNothing(true): "the vehicle accepted what nobody sent"
        case .replyToNothing(false): "the vehicle rejected what nobody sent"
        case .messageToNothing(let length): "a message of \(length) bytes that nobody asked for"
        case .repeated(let length): "passed over a message of \(length) bytes that came before"
        case .damaged(let error): "passed over \(error)"
        case .answeredUnaccepted: "the vehicle answered a message without accepting it first"
        }
    }
}
