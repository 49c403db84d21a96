import Base

/// The address of a bus.
package struct BusAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in the form of the specification, such as
    /// `unix:path=/run/dbus/system_bus_socket`.
    package let text: String

    /// Nil for an empty text.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }

    /// The system bus, or the bus that the environment names instead.
    package static func system(environment: (String) -> String?) -> BusAddress {
        environment("DBUS_SYSTEM_BUS_ADDRESS").flatMap { BusAddress($0) }
            ?? BusAddress(checked: "unix:path=/run/dbus/system_bus_socket")
    }

    private init(checked text: String) { self.text = text }

    package var description: String { text }
}

/// A bus whose connection is opened when it is needed.
///
/// After a loss the next user opens a new connection; failed attempts are delayed.
package actor Bus {
    /// The name of the bus itself as a service.
    package static let name = "org.freedesktop.DBus"
    package static let path = ObjectPath(checked: "/org/freedesktop/DBus")

    package nonisolated let address: BusAddress
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    private var current: Connection?
    private var isOpening = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var backoff = ReconnectDelay()
    private var isClosed = false

    package init(_ address: BusAddress, on loop: EventLoop) {
        self.address = address
        self.loop = loop
    }

    /// The current connection, or a new one; concurrent callers share the attempt.
    package func connection() async throws(BusError) -> Connection {
        while isOpening {
            await withCheckedContinuation { waiting.append($0) }
        }
        if isClosed { throw .disconnected }
        if let current, await current.isOpen { return current }
        isOpening = true
        defer {
            isOpening = false
            let others = waiting
            waiting = []
            for other in others { other.resume() }
        }
        let pause = backoff.pause(before: EventLoop.now)
        if pause > .zero { await sleep(pause) }
        do throws(BusError) {
            let connection = try await Connection.open(address, on: loop)
            backoff.succeeded()
            if isClosed {
                await connection.close()
                throw BusError.disconnected
            }
            current = connection
            return connection
        } catch {
            backoff.failed(at: EventLoop.now)
            throw error
        }
    }

    /// Closes the connection permanently.
    package func close() async {
        isClosed = true
        await current?.close()
        current = nil
    }

    private func sleep(_ time: Duration) async {
        let loop = loop
        await withCheckedContinuation { continuation in
            _ = loop.schedule(after: time) { continuation.resume() }
        }
    }
}

/// The delay before the next attempt to connect.
struct ReconnectDelay: Equatable {
    private var failures = 0
    private var last: Moment?

    /// From 100 ms, doubled each time, up to 5 s after the last failure.
    func pause(before now: Moment) -> Duration {
        guard let last, failures > 0 else { return .zero }
        let wait = Duration.milliseconds(min(5_000, 100 << min(failures - 1, 10)))
        return max(.zero, now.duration(to: last.advanced(by: wait)))
    }

    mutating func failed(at now: Moment) {
        failures += 1
        last = now
    }

    mutating func succeeded() { self = ReconnectDelay() }
}
