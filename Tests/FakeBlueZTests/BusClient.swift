import Base
import BlueZ
import Lab
import Testing

/// A program on the bus that is independent of our radio: it calls methods and reads properties.
struct BusClient {
    let connection: Connection

    init(connection: Connection) { self.connection = connection }

    init(_ bench: FakeBench) async throws {
        connection = try await Connection.open(bench.fake.address, on: bench.fake.loop)
    }

    static let adapter = path("/org/bluez/hci0")
    static let peer = path("/org/bluez/hci0/dev_C0_00_00_00_00_01")

    static func path(_ text: String) -> ObjectPath { ObjectPath(text) ?? .root }

    /// A characteristic of the contract's peer, by its number; their handles are in the same order.
    static func characteristic(_ number: Int) -> ObjectPath {
        // Each takes two handles, and each one that notifies takes one more for its descriptor.
        let handle = [2, 5, 7, 9, 11][number - 1]
        return path(peer.text + "/service0001/char00" + Hex.text([UInt8(handle)]))
    }

    @discardableResult
    func call(
        _ member: String,
        _ interface: String,
        at path: ObjectPath,
        _ arguments: DBusValue...,
        patience: Duration = .seconds(60)
    ) async throws(BusError) -> [DBusValue] {
        try await connection.call(
            MethodCall(
                member,
                of: "org.bluez." + interface,
                at: path,
                on: "org.bluez",
                arguments,
                patience: patience
            )
        )
    }

    /// The error with which a call is refused, as name and text; nil when it is not refused.
    func refusal(
        _ member: String,
        _ interface: String,
        at path: ObjectPath,
        _ arguments: DBusValue...
    ) async -> String? {
        do throws(BusError) {
            _ = try await connection.call(
                MethodCall(
                    member,
                    of: "org.bluez." + interface,
                    at: path,
                    on: "org.bluez",
                    arguments
                )
            )
            return nil
        } catch {
            guard case .refused(let reply) = error else { return "\(error)" }
            return reply.name.split(separator: ".").suffix(1).joined() + ": " + reply.message
        }
    }

    func property(
        _ name: String,
        _ interface: String,
        at path: ObjectPath
    ) async throws -> DBusValue? {
        let values = try await connection.call(
            MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: path,
                on: "org.bluez",
                [.string("org.bluez." + interface)]
            )
        )
        return values.first?.asProperties?[name]
    }

    /// The paths of all objects.
    func tree() async throws -> [ObjectPath] {
        let values = try await connection.call(
            MethodCall(
                "GetManagedObjects",
                of: "org.freedesktop.DBus.ObjectManager",
                at: .root,
                on: "org.bluez"
            )
        )
        guard case .dictionary(_, _, let entries)? = values.first else { return [] }
        return entries.compactMap(\.key.asPath)
    }

    /// Waits until the condition holds, for a minute at most.
    func wait(
        for condition: () async throws -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let deadline = EventLoop.now.advanced(by: .seconds(60))
        while try await !condition() {
            guard EventLoop.now < deadline else {
                Issue.record("it does not come about", sourceLocation: sourceLocation)
                return
            }
            // The call to the bus serves as the pause.
            _ = try await connection.owner(of: "org.bluez")
        }
    }

    /// Scans until the peer is known.
    func find() async throws {
        try await call(
            "SetDiscoveryFilter",
            "Adapter1",
            at: Self.adapter,
            .properties(["Transport": .string("le"), "DuplicateData": .boolean(true)])
        )
        try await call("StartDiscovery", "Adapter1", at: Self.adapter)
        try await wait { try await tree().contains(Self.peer) }
        try await call("StopDiscovery", "Adapter1", at: Self.adapter)
    }

    /// Connects to the peer and waits for its services.
    func connect() async throws {
        try await find()
        try await call("Connect", "Device1", at: Self.peer)
        try await wait {
            try await property("ServicesResolved", "Device1", at: Self.peer) == .boolean(true)
        }
    }
}
