import Base
import CDBus

/// One connection to a bus, owned by the thread of its loop.
///
/// Once lost, it stays lost: pending calls fail, streams end, and `Bus` opens another one.
package actor Connection {
    package nonisolated let loop: EventLoop
    package nonisolated let address: String
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// libdbus's handle; nil once closed.
    var handle: OpaquePointer?
    /// The name that the bus assigned, such as `:1.42`.
    package private(set) var uniqueName = ""
    /// The loop's watches, by the addresses of libdbus's watches.
    private var watches: [UInt: EventLoop.WatchID] = [:]
    /// Set while messages are left for the next round of the loop.
    private var isCatchingUp = false

    var calls = CallTable()
    var observers = ObserverTable()
    var tree = ObjectTree()
    private var lossHandlers: [@Sendable () -> Void] = []

    private init(_ address: BusAddress, loop: EventLoop) {
        self.address = address.text
        self.loop = loop
    }

    isolated deinit { shutDown() }

    // MARK: Opening and closing

    /// Opens a connection and says hello to the bus, within a few seconds.
    package static func open(
        _ address: BusAddress,
        on loop: EventLoop
    ) async throws(BusError) -> Connection {
        let connection = Connection(address, loop: loop)
        do throws(BusError) {
            try await connection.begin(address)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    private func begin(_ address: BusAddress) async throws(BusError) {
        try attach(address)
        let values: [DBusValue]
        do throws(BusError) {
            values = try await call(MethodCall("Hello", of: Bus.name, at: Bus.path, on: Bus.name))
        } catch .disconnected {
            throw .unreachable("the connection was refused or closed before a greeting")
        }
        guard let name = values.first?.asString else {
            throw .malformed(.body(expected: "s", found: ""))
        }
        uniqueName = name
    }

    private func attach(_ address: BusAddress) throws(BusError) {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard !address.text.utf8.contains(0),
            let opened = dbus_connection_open_private(address.text, &error)
        else {
            throw .unreachable(error.message.map { String(cString: $0) } ?? "no such address")
        }
        handle = opened
        // Otherwise libdbus ends the process when the bus disappears.
        dbus_connection_set_exit_on_disconnect(opened, 0)
        let context = Unmanaged.passUnretained(self).toOpaque()
        let isSet = dbus_connection_set_watch_functions(
            opened,
            { watch, context in
                let watch = UInt(bitPattern: watch)
                Connection.from(context)?.assumeIsolated { $0.add(watch) }
                return 1
            },
            { watch, context in
                let watch = UInt(bitPattern: watch)
                Connection.from(context)?.assumeIsolated { $0.remove(watch) }
            },
            { watch, context in
                let watch = UInt(bitPattern: watch)
                Connection.from(context)?.assumeIsolated { $0.toggle(watch) }
            },
            context,
            nil
        )
        guard isSet != 0 else { throw .unreachable("there is not enough memory") }
    }

    /// Ends the connection: pending calls fail and streams end.
    ///
    /// Closing twice is harmless.
    package func close() { shutDown() }

    package var isOpen: Bool { handle != nil }

    /// Calls `handler` on the loop's thread when the connection is lost or closed; immediately if
    /// it already is.
    package func onLoss(_ handler: @escaping @Sendable () -> Void) {
        guard handle != nil else { return handler() }
        lossHandlers.append(handler)
    }

    private func shutDown() {
        guard let old = handle else { return }
        handle = nil
        dbus_connection_set_watch_functions(old, nil, nil, nil, nil, nil)
        // libdbus has removed its watches by now; any that remain must not be polled.
        for id in watches.values { loop.unwatch(id) }
        watches = [:]
        dbus_connection_close(old)
        // Unread messages are freed with the connection.
        dbus_connection_unref(old)
        failAllCalls()
        observers.endAll()
        let handlers = lossHandlers
        lossHandlers = []
        for handler in handlers { handler() }
    }

    // MARK: The watches of libdbus

    private static func from(_ context: UnsafeMutableRawPointer?) -> Connection? {
        // libdbus holds no reference to it: it calls back only while the handle is open, and the
        // handle is closed before the actor is freed.
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func add(_ key: UInt) {
        guard let watch = OpaquePointer(bitPattern: key) else { return }
        watches[key] = loop.watch(dbus_watch_get_unix_fd(watch), for: Self.interest(watch)) {
            [weak self] ready in
            self?.assumeIsolated { $0.serve(key, ready) }
        }
    }

    private func remove(_ key: UInt) {
        if let id = watches.removeValue(forKey: key) { loop.unwatch(id) }
    }

    private func toggle(_ key: UInt) {
        guard let watch = OpaquePointer(bitPattern: key), let id = watches[key] else { return }
        loop.setInterest(Self.interest(watch), of: id)
    }

    private static func interest(_ watch: OpaquePointer) -> EventLoop.Readiness {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var interest: EventLoop.Readiness = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.reading) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writing) }
        return interest
    }

    private func serve(_ key: UInt, _ ready: EventLoop.Readiness) {
        guard let watch = OpaquePointer(bitPattern: key), watches[key] != nil else { return }
        var flags: UInt32 = 0
        if ready.contains(.reading) { flags |= DBUS_WATCH_READABLE.rawValue }
        if ready.contains(.writing) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if ready.contains(.hungUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        dbus_watch_handle(watch, flags)
        takeMessages()
    }

    // MARK: Messages

    private static let messagesPerRound = 256

    /// Handles the messages that have arrived, but lets other work on the loop run in between.
    private func takeMessages() {
        for _ in 0..<Self.messagesPerRound {
            guard let handle else { return }
            guard let pointer = dbus_connection_pop_message(handle) else { return }
            take(RawMessage(owning: pointer))
        }
        guard !isCatchingUp else { return }
        isCatchingUp = true
        loop.perform { [weak self] in
            self?.assumeIsolated {
                $0.isCatchingUp = false
                $0.takeMessages()
            }
        }
    }

    private func take(_ raw: consuming RawMessage) {
        switch raw.kind {
        case .reply: finishCall(raw.replySerial, raw, isError: false)
        case .error: finishCall(raw.replySerial, raw, isError: true)
        case .call: takeCall(raw)
        case .signal:
            if raw.interface == "org.freedesktop.DBus.Local" {
                // A message from libdbus itself, which no bus forwards: the connection is lost.
                if raw.member == "Disconnected", raw.sender == nil { shutDown() }
            } else {
                takeSignal(raw)
            }
        case nil: break
        }
    }

    /// Passes a message to libdbus, which immediately sends what the socket accepts; returns its
    /// serial.
    func post(_ message: borrowing RawMessage) throws(BusError) -> UInt32 {
        guard let handle else { throw .disconnected }
        guard dbus_connection_get_is_connected(handle) != 0 else {
            // The connection is lost, and the last message about this is in the queue: it will be
            // handled soon.
            throw .disconnected
        }
        var serial: UInt32 = 0
        guard dbus_connection_send(handle, message.pointer, &serial) != 0 else {
            throw .unsendable(.outOfMemory)
        }
        return serial
    }

    /// Whether the connection can transfer descriptors.
    package var carriesDescriptors: Bool {
        guard let handle else { return false }
        return dbus_connection_can_send_type(handle, CInt(UInt8(ascii: "h"))) != 0
    }

    /// The number of bytes that wait until the socket accepts them.
    package var backlog: Int {
        guard let handle else { return 0 }
        return Int(dbus_connection_get_outgoing_size(handle))
    }
}
