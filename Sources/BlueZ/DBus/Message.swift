import CDBus

/// A message that arrived over the bus, with the parts that the program needs.
package struct Message: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case call, reply, error, signal }

    package let kind: Kind
    package let serial: UInt32
    /// The serial of the call that this answers.
    package let replySerial: UInt32?
    /// The unique name of the sender, such as `:1.42`, which the bus guarantees.
    package let sender: String?
    package let path: ObjectPath?
    package let interface: String?
    package let member: String?
    package let errorName: String?
    package let expectsReply: Bool
    package let body: [DBusValue]

    /// The types of the body in sequence.
    package var signature: String { body.map(\.signature.text).joined() }
}

/// A libdbus message, freed together with its owner.
///
/// It is used on one thread only: that of the connection.
struct RawMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over the reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { dbus_message_unref(pointer) }

    // MARK: Reading

    var kind: Message.Kind? {
        switch dbus_message_get_type(pointer) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }
    var sender: String? { Self.text(dbus_message_get_sender(pointer)) }
    var interface: String? { Self.text(dbus_message_get_interface(pointer)) }
    var member: String? { Self.text(dbus_message_get_member(pointer)) }
    var errorName: String? { Self.text(dbus_message_get_error_name(pointer)) }
    var path: ObjectPath? {
        Self.text(dbus_message_get_path(pointer)).map(ObjectPath.init(checked:))
    }

    /// The header fields that an answer needs, also when the body cannot be read.
    var head: (serial: UInt32, sender: String?)? {
        guard dbus_message_get_no_reply(pointer) == 0 else { return nil }
        return (dbus_message_get_serial(pointer), sender)
    }

    func body() throws(ValueError) -> [DBusValue] { try MessageReader.body(of: pointer) }

    func message(_ kind: Message.Kind) throws(ValueError) -> Message {
        Message(
            kind: kind,
            serial: dbus_message_get_serial(pointer),
            replySerial: replySerial == 0 ? nil : replySerial,
            sender: sender,
            path: path,
            interface: interface,
            member: member,
            errorName: errorName,
            expectsReply: dbus_message_get_no_reply(pointer) == 0,
            body: try body()
        )
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    // MARK: Creating

    static func call(_ call: MethodCall, expectsReply: Bool) throws(ValueError) -> RawMessage {
        if let name = call.destination { try check(name, dbus_validate_bus_name) }
        try check(call.interface, dbus_validate_interface)
        try check(call.member, dbus_validate_member)
        let message = try made(
            dbus_message_new_method_call(
                call.destination,
                call.path.text,
                call.interface,
                call.member
            )
        )
        if !expectsReply { dbus_message_set_no_reply(message.pointer, 1) }
        // A service that is not running is not started by this call: that is decided elsewhere.
        dbus_message_set_auto_start(message.pointer, 0)
        try message.append(call.arguments)
        return message
    }

    static func signal(
        _ signal: Signal,
        to destination: String?
    ) throws(ValueError) -> RawMessage {
        try check(signal.interface, dbus_validate_interface)
        try check(signal.member, dbus_validate_member)
        let message = try made(
            dbus_message_new_signal(signal.path.text, signal.interface, signal.member)
        )
        if let destination {
            try check(destination, dbus_validate_bus_name)
            guard dbus_message_set_destination(message.pointer, destination) != 0 else {
                throw .outOfMemory
            }
        }
        try message.append(signal.arguments)
        return message
    }

    static func reply(
        to serial: UInt32,
        of caller: String?,
        _ values: [DBusValue]
    ) throws(ValueError) -> RawMessage {
        let message = try made(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN))
        try message.address(to: serial, of: caller)
        try message.append(values)
        return message
    }

    static func error(
        to serial: UInt32,
        of caller: String?,
        _ error: ErrorReply
    ) throws(ValueError) -> RawMessage {
        try check(error.name, dbus_validate_error_name)
        let message = try made(dbus_message_new(DBUS_MESSAGE_TYPE_ERROR))
        try message.address(to: serial, of: caller)
        guard dbus_message_set_error_name(message.pointer, error.name) != 0 else {
            throw .outOfMemory
        }
        try message.append([.string(error.message)])
        return message
    }

    private func address(to serial: UInt32, of caller: String?) throws(ValueError) {
        guard dbus_message_set_reply_serial(pointer, serial) != 0,
            caller == nil || dbus_message_set_destination(pointer, caller) != 0
        else { throw .outOfMemory }
        dbus_message_set_no_reply(pointer, 1)
    }

    private func append(_ values: [DBusValue]) throws(ValueError) {
        let length = values.reduce(0) { $0 + $1.signature.text.utf8.count }
        guard length <= 255 else { throw .tooLong(limit: 255) }
        try MessageWriter.append(values, to: pointer)
    }

    private static func made(_ pointer: OpaquePointer?) throws(ValueError) -> RawMessage {
        guard let pointer else { throw .outOfMemory }
        return RawMessage(owning: pointer)
    }

    private static func check(
        _ name: String,
        _ isValid: (UnsafePointer<CChar>?, UnsafeMutablePointer<DBusError>?) -> dbus_bool_t
    ) throws(ValueError) {
        guard !name.utf8.contains(0), isValid(name, nil) != 0 else { throw .wrongName(name) }
    }
}

/// A call of a method of an object in another process.
package struct MethodCall: Sendable {
    /// A unique or a well-known name; nil only where there is no bus in between.
    package var destination: String?
    package var path: ObjectPath
    package var interface: String
    package var member: String
    package var arguments: [DBusValue]
    /// How long to wait for the answer.
    package var patience: Duration

    package init(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        on destination: String?,
        _ arguments: [DBusValue] = [],
        patience: Duration = .seconds(5)
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.patience = patience
    }
}

/// A signal of one of our objects.
package struct Signal: Sendable {
    package var path: ObjectPath
    package var interface: String
    package var member: String
    package var arguments: [DBusValue]

    package init(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ arguments: [DBusValue] = []
    ) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}
