import Base

/// Something that a session skipped; it is reported so that it does not go unnoticed.
package enum CarShareNote: Hashable, Sendable, CustomStringConvertible {
    /// Bytes that arrived while no session was open.
    case bytesOutsideSession(Int)
    case emptyWrite
    /// A valid frame without meaning for a car-share host.
    case frame(AddOnType)
    /// The vehicle began the handshake again, and we answered.
    case handshakeRepeated
    /// An acceptance or rejection, although no message awaited one.
    case replyToNothing(accepted: Bool)
    /// A message that arrived while no command was under way.
    case messageToNothing(length: Int)
    /// A message that the vehicle sent a second time.
    case repeated(length: Int)
    /// Bytes that are not a frame, received while no command was under way.
    case damaged(AddOnFrameError)
    /// The vehicle answered a message without accepting it: the message counts as accepted.
    case answeredUnaccepted
    /// The vehicle did not say which one it is.
    case unidentified

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
        case .unidentified: "the vehicle did not say which one it is"
        }
    }
}
