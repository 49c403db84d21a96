import Base
import BlueZ
import Lab
import Radio
import RadioContract
import Simulation
import Testing

/// Habits of bluetoothd that clients must handle, observed by a bare client on the bus.
@Suite(.timeLimit(.minutes(5))) struct HabitTests {
    private func with(
        _ faults: [HostFault] = [],
        keeping temporaryTimeout: Duration = .seconds(600),
        _ body: (BusClient, FakeBlueZ) async throws -> Void
    ) async throws {
        var settings = FakeBlueZ.Settings()
        settings.host.faults = faults
        settings.host.disconnectTime = .milliseconds(10)
        settings.host.temporaryTimeout = temporaryTimeout
        try await FakeBench.with(settings) { bench in
            let client = try await BusClient(bench)
            let result: Result<Void, any Error>
            do { result = .success(try await body(client, bench.fake)) } catch {
                result = .failure(error)
            }
            await client.connection.close()
            try result.get()
        }
    }

    private let adapter = BusClient.adapter
    private let peer = BusClient.peer
    private let echo = BusClient.characteristic(1)
    private let store = BusClient.characteristic(2)
    private let refusing = BusClient.characteristic(3)

    // MARK: Scans

    @Test func `a second scan of a program is refused, and a stop without one`() async throws {
        try await with { client, fake in
            #expect(
                await client.refusal("StopDiscovery", "Adapter1", at: adapter)
                    == "Failed: No discovery started"
            )
            try await client.call("StartDiscovery", "Adapter1", at: adapter)
            #expect(
                await client.refusal("StartDiscovery", "Adapter1", at: adapter)
                    == "InProgress: Operation already in progress"
            )
            #expect(await fake.figures.scans == 1)
        }
    }

    @Test func `a scan ends with its program`() async throws {
        try await with { client, fake in
            let other = try await Connection.open(fake.address, on: fake.loop)
            _ = try await other.call(
                MethodCall("StartDiscovery", of: "org.bluez.Adapter1", at: adapter, on: "org.bluez")
            )
            #expect(await fake.figures.scans == 1)
            await other.close()
            try await client.wait { await fake.figures.scans == 0 }
            #expect(
                try await client.property("Discovering", "Adapter1", at: adapter) == .boolean(false)
            )
        }
    }

    @Test func `after a scan the strength is not told`() async throws {
        try await with { client, _ in
            try await client.find()
            #expect(try await client.property("RSSI", "Device1", at: peer) == nil)
        }
    }

    @Test func `after a scan a device goes that nobody wanted`() async throws {
        try await with(keeping: .milliseconds(600)) { client, _ in
            try await client.find()
            try await client.wait { try await !client.tree().contains(peer) }
        }
    }

    @Test func `a filter of one program keeps away what it does not want`() async throws {
        try await with { client, _ in
            try await client.call(
                "SetDiscoveryFilter",
                "Adapter1",
                at: adapter,
                .properties(["RSSI": .int16(-20)])
            )
            try await client.call("StartDiscovery", "Adapter1", at: adapter)
            let later = EventLoop.now.advanced(by: .milliseconds(400))
            try await client.wait { EventLoop.now >= later }
            #expect(try await !client.tree().contains(peer))
            #expect(
                await client.refusal(
                    "SetDiscoveryFilter",
                    "Adapter1",
                    at: adapter,
                    .properties(["Transport": .string("smoke")])
                ) == "InvalidArguments: Invalid arguments in method call"
            )
        }
    }

    @Test func `a stuck scan goes on and hears nothing until it is begun again`() async throws {
        try await with([HostFault(.scanStuck, times: 1)]) { client, _ in
            try await client.call("StartDiscovery", "Adapter1", at: adapter)
            #expect(
                await client.refusal("StopDiscovery", "Adapter1", at: adapter)
                    == "InProgress: Operation already in progress"
            )
            #expect(
                try await client.property("Discovering", "Adapter1", at: adapter) == .boolean(true)
            )
            try await client.find()
        }
    }

    // MARK: Links

    @Test func `a link outlives the program that made it, and so do its objects the link`()
        async throws
    {
        try await with { client, fake in
            let other = try await BusClient(
                connection: Connection.open(fake.address, on: fake.loop)
            )
            try await other.connect()
            await other.connection.close()
            #expect(
                try await client.property("Connected", "Device1", at: peer) == .boolean(true)
            )
            try await client.call("Disconnect", "Device1", at: peer)
            #expect(
                try await client.property("Connected", "Device1", at: peer) == .boolean(false)
            )
            #expect(try await client.tree().contains(store))
            #expect(
                await client.refusal(
                    "ReadValue",
                    "GattCharacteristic1",
                    at: store,
                    .properties([:])
                )
                    == "Failed: Not connected"
            )
            try await client.call("RemoveDevice", "Adapter1", at: adapter, .objectPath(peer))
            #expect(try await !client.tree().contains { $0.isWithin(peer) })
            #expect(
                await client.refusal("RemoveDevice", "Adapter1", at: adapter, .objectPath(peer))
                    == "DoesNotExist: Does Not Exist"
            )
        }
    }

    @Test(
        arguments: [
            (HostFault.Kind.connectAborted, "Failed: le-connection-abort-by-local"),
            (.connectBusy, "Failed: Operation already in progress"),
            (.accessDenied, "AccessDenied: "), (.deviceDropped, "UnknownObject: "),
        ]
    )
    func `a connection is refused in the service's words`(
        kind: HostFault.Kind,
        words: String
    ) async throws {
        try await with { client, fake in
            try await client.find()
            await fake.set(HostFault(kind, times: 1))
            let refusal = await client.refusal("Connect", "Device1", at: peer)
            #expect(refusal?.hasPrefix(words) == true, "\(refusal ?? "none")")
            #expect(await fake.faults == HostFaults())
            guard kind == .connectBusy else { return }
            try await client.wait {
                try await client.property("Connected", "Device1", at: peer) == .boolean(true)
            }
        }
    }

    @Test func `a connection is aborted for the module that is named, and for no other`()
        async throws
    {
        try await with { client, fake in
            try await client.find()
            await fake.set(HostFault(.connectAborted, times: 1, module: "the contract's peer"))
            await fake.set(HostFault(.connectAborted, module: "another"))
            let refusal = await client.refusal("Connect", "Device1", at: peer)
            #expect(refusal == "Failed: le-connection-abort-by-local")
            try await client.connect()
        }
    }

    @Test func `services that were found on a link stand among the advertised ones`()
        async throws
    {
        try await with { client, _ in
            try await client.find()
            #expect(try await client.property("UUIDs", "Device1", at: peer) == .strings([]))
            try await client.connect()
            try await client.call("Disconnect", "Device1", at: peer)
            let found = [0x1800, 0x1801, 0xFF00].map { GATTUUID(short: $0).description }
            #expect(try await client.property("UUIDs", "Device1", at: peer) == .strings(found))
        }
    }

    @Test(arguments: ["RemoveDevice", "StopNotify"])
    func `a socket for refused notifications is never answered, and ends the service later`(
        member: String
    ) async throws {
        try await FakeBench.with { bench in
            let client = try await BusClient(bench)
            await bench.atPeer { $0.subscriptionError = .insufficientAuthorization }
            try await client.connect()
            let refusal = await client.refusal("StartNotify", "GattCharacteristic1", at: echo)
            #expect(refusal == "NotAuthorized: Operation Not Authorized")
            await #expect(throws: BusError.timedOut) {
                try await client.call(
                    "AcquireNotify",
                    "GattCharacteristic1",
                    at: echo,
                    .properties([:]),
                    patience: .milliseconds(500)
                )
            }
            let second = await client.refusal("StartNotify", "GattCharacteristic1", at: echo)
            #expect(second == "NotPermitted: Notify acquired")
            #expect(await bench.fake.crashes == 0)
            if member == "RemoveDevice" {
                _ = await client.refusal(member, "Adapter1", at: adapter, .objectPath(peer))
            } else {
                _ = await client.refusal(member, "GattCharacteristic1", at: echo)
            }
            #expect(await bench.fake.crashes == 1)
            try await client.wait {
                try await client.connection.owner(of: "org.bluez") != nil
            }
            await client.connection.close()
        }
    }

    @Test func `a success without a link leaves the device alone`() async throws {
        try await with([HostFault(.connectWithoutLink, times: 1)]) { client, fake in
            try await client.find()
            try await client.call("Connect", "Device1", at: peer)
            #expect(await fake.figures.links == 0)
        }
    }

    @Test func `an attempt that is never answered is cancelled by a disconnect`() async throws {
        try await with([HostFault(.connectUnanswered, times: 1)]) { client, fake in
            try await client.find()
            async let refusal = client.refusal("Connect", "Device1", at: peer)
            try await client.wait { await fake.count("Connect") == 1 }
            try await client.call("Disconnect", "Device1", at: peer)
            let words = await refusal
            #expect(words == "Failed: br-connection-canceled")
        }
    }

    @Test func `the link limit is told by name or not`() async throws {
        try await with { client, fake in
            try await client.find()
            await fake.cause(.linkLimit(adapter: "hci0", 0))
            #expect(
                await client.refusal("Connect", "Device1", at: peer)
                    == "Failed: le-connection-concurrent-connection-limit"
            )
            await fake.set(HostFault(.linkLimitUnnamed, times: 1))
            #expect(
                await client.refusal("Connect", "Device1", at: peer)
                    == "Failed: le-connection-abort-by-local"
            )
        }
    }

    @Test func `a stale memory lacks a characteristic until the device is forgotten`()
        async throws
    {
        let fault = HostFault(.staleServices, times: 1, lacking: ContractPeer.store.uuid)
        try await with([fault]) { client, _ in
            try await client.connect()
            func count() async throws -> Int {
                try await client.tree().count { $0.name.hasPrefix("char") }
            }
            #expect(try await count() == 4)
            try await client.call("RemoveDevice", "Adapter1", at: adapter, .objectPath(peer))
            try await client.connect()
            #expect(try await count() == 5)
        }
    }

    // MARK: Characteristics

    @Test func `what the device refuses has the service's words`() async throws {
        try await with { client, _ in
            try await client.connect()
            #expect(
                await client.refusal(
                    "ReadValue",
                    "GattCharacteristic1",
                    at: refusing,
                    .properties([:])
                ) == "NotAuthorized: Operation Not Authorized"
            )
            // The packet is accepted and sent, and the device drops it, because it has no such
            // characteristic.
            try await client.call(
                "WriteValue",
                "GattCharacteristic1",
                at: store,
                .bytes([1]),
                .properties(["type": .string("command")])
            )
            #expect(
                await client.refusal(
                    "WriteValue",
                    "GattCharacteristic1",
                    at: echo,
                    .bytes([UInt8](repeating: 0, count: 300)),
                    .properties(["type": .string("command")])
                ) == "Failed: Failed to initiate write"
            )
            #expect(
                await client.refusal(
                    "WriteValue",
                    "GattDescriptor1",
                    at: BusClient.path(echo.text + "/desc0004"),
                    .bytes([1, 0]),
                    .properties([:])
                ) == "NotPermitted: Write not permitted"
            )
        }
    }

    @Test func `after a pairing that failed for a request nothing is answered on that link`()
        async throws
    {
        try await with { client, fake in
            await fake.arrange { world in
                for case let peer as ContractPeer in world.devices {
                    peer.security = AirSecurity(AirSecurity.Plan(.justWorks))
                }
            }
            try await client.find()
            try await client.connect()
            let value = DBusValue.bytes([1])
            // There is no agent. The second request has nothing to do with the first one.
            for characteristic in [store, echo] {
                await #expect(throws: BusError.timedOut) {
                    try await client.call(
                        "WriteValue",
                        "GattCharacteristic1",
                        at: characteristic,
                        value,
                        .properties(["type": .string("request")]),
                        patience: .seconds(1)
                    )
                }
            }
            async let late = client.refusal(
                "ReadValue",
                "GattCharacteristic1",
                at: store,
                .properties([:])
            )
            try await client.call("Disconnect", "Device1", at: peer)
            #expect(await late == "Failed: Not connected")
        }
    }

    @Test func `what is written is read, at an offset too`() async throws {
        try await with { client, _ in
            try await client.connect()
            try await client.call(
                "WriteValue",
                "GattCharacteristic1",
                at: store,
                .bytes([1, 2, 3]),
                .properties([:])
            )
            let read = try await client.call(
                "ReadValue",
                "GattCharacteristic1",
                at: store,
                .properties(["offset": .uint16(1)])
            )
            #expect(read == [.bytes([2, 3])])
            #expect(
                await client.refusal(
                    "ReadValue",
                    "GattCharacteristic1",
                    at: store,
                    .properties(["offset": .uint16(9)])
                ) == "InvalidArguments: Invalid offset"
            )
        }
    }

    @Test func `who has the socket has it alone, and it ends with the link`() async throws {
        try await with { client, fake in
            try await client.connect()
            let write = try await client.call(
                "AcquireWrite",
                "GattCharacteristic1",
                at: echo,
                .properties([:])
            )
            #expect(write.count == 2 && write[1] == .uint16(247))
            #expect(
                await client.refusal(
                    "AcquireWrite",
                    "GattCharacteristic1",
                    at: echo,
                    .properties([:])
                )
                    == "NotPermitted: Write acquired"
            )
            #expect(
                await client.refusal(
                    "WriteValue",
                    "GattCharacteristic1",
                    at: echo,
                    .bytes([1]),
                    .properties([:])
                ) == "NotPermitted: Write acquired"
            )
            let notify = try await client.call(
                "AcquireNotify",
                "GattCharacteristic1",
                at: echo,
                .properties([:])
            )
            #expect(
                await client.refusal("StartNotify", "GattCharacteristic1", at: echo)
                    == "NotPermitted: Notify acquired"
            )
            #expect(await fake.figures.sockets == 2)
            await fake.cause(.linkLost(module: "the contract's peer"))
            #expect(await fake.figures.sockets == 0)
            // If they were released, the sockets would be closed from this side.
            withExtendedLifetime((write, notify)) {}
            #expect(
                try await client.property("WriteAcquired", "GattCharacteristic1", at: echo)
                    == .boolean(false)
            )
        }
    }

    @Test func `a busy characteristic, another's and one without sockets are refused`()
        async throws
    {
        try await with { client, fake in
            try await client.connect()
            await fake.set(HostFault(.requestBusy, times: 1))
            #expect(
                await client.refusal(
                    "ReadValue",
                    "GattCharacteristic1",
                    at: store,
                    .properties([:])
                )
                    == "InProgress: In Progress"
            )
            await fake.set(HostFault(.acquiredByOther, times: 1))
            #expect(
                await client.refusal(
                    "AcquireWrite",
                    "GattCharacteristic1",
                    at: echo,
                    .properties([:])
                ) == "NotPermitted: Write acquired"
            )
            #expect(
                await client.refusal("StopNotify", "GattCharacteristic1", at: echo)
                    == "Failed: No notify session started"
            )
        }
    }

    // MARK: Adapters

    @Test func `a blocked adapter cannot be switched on, and one that is off does nothing`()
        async throws
    {
        try await with { client, fake in
            await fake.cause(.block(adapter: "hci0", true))
            #expect(
                await client.refusal("StartDiscovery", "Adapter1", at: adapter)
                    == "NotReady: Resource Not Ready"
            )
            do {
                _ = try await client.connection.call(
                    MethodCall(
                        "Set",
                        of: "org.freedesktop.DBus.Properties",
                        at: adapter,
                        on: "org.bluez",
                        [
                            .string("org.bluez.Adapter1"), .string("Powered"),
                            .variant(.boolean(true)),
                        ]
                    )
                )
                Issue.record("it was switched on")
            } catch BusError.refused(let reply) {
                #expect(reply.name == "org.bluez.Error.Blocked")
            }
        }
    }

    @Test func `an adapter that is put in again under another name keeps its address`()
        async throws
    {
        try await with { client, fake in
            let address = try await client.property("Address", "Adapter1", at: adapter)
            await fake.cause(.unplug(adapter: "hci0"))
            #expect(try await client.tree() == [BusClient.path("/org/bluez")])
            await fake.cause(.plugIn(adapter: "hci0", as: "hci3"))
            let other = BusClient.path("/org/bluez/hci3")
            #expect(try await client.property("Address", "Adapter1", at: other) == address)
        }
    }

    @Test func `a restart keeps what was connected to, and nothing else`() async throws {
        try await with { client, fake in
            try await client.connect()
            await fake.cause(.restart(after: .milliseconds(50)))
            try await client.wait { try await client.connection.owner(of: "org.bluez") != nil }
            let tree = try await client.tree()
            #expect(tree.contains(peer) && !tree.contains(store))
            #expect(
                try await client.property("Connected", "Device1", at: peer) == .boolean(false)
            )
        }
    }

    @Test func `a module with another address is another device`() async throws {
        try await with { client, fake in
            try await client.find()
            #expect(await fake.cause(.newAddress(module: "the contract's peer")))
            try await client.call("StartDiscovery", "Adapter1", at: adapter)
            try await client.wait {
                try await client.tree().contains { $0.name.hasPrefix("dev_") && $0 != peer }
            }
        }
    }
}
