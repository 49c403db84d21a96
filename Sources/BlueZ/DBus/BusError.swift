import Base

/// The errors of communication over a bus.
package enum BusError: Error, Hashable, Sendable {
    /// No bus answers at the address; the text is from libdbus or from the system.
    case unreachable(String)
    /// The connection was lost or closed.
    case disconnected
    /// The other process answered with an error.
    case refused(ErrorReply)
    case timedOut
    case cancelled
    /// The answer has an unexpected form.
    case malformed(ValueError)
    /// The message cannot be sent.
    case unsendable(ValueError)
}

/// An error as it is sent over the bus: a name for programs, a sentence for people.
package struct ErrorReply: Error, Hashable, Sendable {
    package let name: String
    package let message: String

    package init(_ name: String, _ message: String = "") {
        self.name = name
        self.message = message
    }
}

extension ErrorReply {
    private static let standard = "org.freedesktop.DBus.Error."

    package static func failed(_ message: String) -> ErrorReply {
        ErrorReply(standard + "Failed", message)
    }
    package static func invalidArguments(_ message: String) -> ErrorReply {
        ErrorReply(standard + "InvalidArgs", message)
    }
    package static func unknownObject(_ path: ObjectPath) -> ErrorReply {
        ErrorReply(standard + "UnknownObject", "there is no object \(path)")
    }
    package static func unknownInterface(_ name: String) -> ErrorReply {
        ErrorReply(standard + "UnknownInterface", "the object has no interface \(name)")
    }
    package static func unknownMethod(_ name: String) -> ErrorReply {
        ErrorReply(standard + "UnknownMethod", "the object has no method \(name)")
    }
    package static func unknownProperty(_ name: String) -> ErrorReply {
        ErrorReply(standard + "UnknownProperty", "there is no property \(name)")
    }
    package static func readOnlyProperty(_ name: String) -> ErrorReply {
        ErrorReply(standard + "PropertyReadOnly", "\(name) cannot be set")
    }
    package static let notAnswered = ErrorReply(
        standard + "NoReply",
        "the call was dropped without an answer"
    )

    /// Whether the called name has no owner.
    package var isServiceGone: Bool {
        [
            "ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected", "Spawn.ChildExited",
            "Spawn.ServiceNotFound",
        ].contains { name == Self.standard + $0 }
    }

    /// Whether the called object does not exist.
    package var isObjectGone: Bool {
        ["UnknownObject", "UnknownMethod", "UnknownInterface"].contains {
            name == Self.standard + $0
        }
    }

    package var isAccessDenied: Bool {
        name == Self.standard + "AccessDenied" || name == Self.standard + "AuthFailed"
    }
}

/// Why a value or a message cannot be sent or is rejected.
package enum ValueError: Error, Hashable, Sendable {
    /// Nested deeper than `limit` levels.
    case tooDeep(limit: Int)
    /// More than `limit` values, over all levels.
    case tooMany(limit: Int)
    /// Longer than `limit` bytes.
    case tooLong(limit: Int)
    /// An element has another type than its container declares.
    case mismatch(expected: Signature, found: Signature)
    /// The whole body has another signature than expected.
    case body(expected: String, found: String)
    /// A structure without fields.
    case emptyStructure
    /// A dictionary with a container as its key, or an array of bytes that is not `bytes`.
    case wrongContainer(Signature)
    /// A text that contains a NUL.
    case nulInText
    /// Not a valid name by the rules of the specification.
    case wrongName(String)
    /// A type that the specification does not define.
    case unknownType(Int32)
    /// A descriptor that was already taken, or could not be transferred.
    case descriptor
    case outOfMemory
}

extension BusError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(let reason): "no bus answers: \(reason.visible)"
        case .disconnected: "the connection to the bus is lost"
        case .refused(let reply): "\(reply.name.visible): \(reply.message.visible)"
        case .timedOut: "no answer in time"
        case .cancelled: "cancelled"
        case .malformed(let error): "the answer is not acceptable: \(error)"
        case .unsendable(let error): "this cannot be sent: \(error)"
        }
    }
}

extension ValueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooMany(let limit): "more than \(limit) values"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .mismatch(let expected, let found):
            "a value of type \(found) where \(expected) belongs"
        case .body(let expected, let found):
            "a body of type '\(found.visible)' where '\(expected)' belongs"
        case .emptyStructure: "a structure without fields"
        case .wrongContainer(let signature): "no container can be of type \(signature)"
        case .nulInText: "a text with a NUL in it"
        case .wrongName(let name): "'\(name.visible)' is no name on a bus"
        case .unknownType(let code): "a value of the unknown type \(code)"
        case .descriptor: "a descriptor that cannot be handed over"
        case .outOfMemory: "there is not enough memory"
        }
    }
}
