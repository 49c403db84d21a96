import Base
import BlueZ
import Lab
import PrivateBus
import Radio
import RadioContract
import Simulation
import Testing

/// The reaction of our radio to failures that only a whole host can cause.
///
/// The numbers are those of the table in docs/simulation.md.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemedyTests {
    private final class Notes: Sendable {
        private let all = Monitor<[BlueZNote]>([])

        var settings: BlueZSettings {
            var settings = BlueZSettings()
            settings.note = { note in self.all.withLock { $0.append(note) } }
            return settings
        }

        var found: [BlueZNote] { all.withLock { $0 } }
    }

    private func soon(_ bench: FakeBench, _ time: Duration = .seconds(60)) -> Moment {
        bench.time.now.advanced(by: time)
    }

    private func find(
        _ bench: FakeBench,
        for time: Duration = .seconds(60)
    ) async throws -> Advertisement {
        let deadline = soon(bench, time)
        return try await bench.central.withScan(ScanFilter(companies: [ContractPeer.company])) {
            scan throws(RadioError) in
            try await scan.next(before: deadline)
        }
    }

    /// Finds the peer, connects, sends bytes and receives their echo; a few attempts are allowed.
    private func exchange(_ bench: FakeBench, attempts: Int = 1) async throws {
        for attempt in 1...attempts {
            do {
                let peer = try await find(bench).peer
                let link = try await bench.central.connect(to: peer, before: soon(bench))
                let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
                try await link.send([1, 2, 3], to: ContractPeer.echo)
                #expect(try await echoes.next(before: soon(bench)) == [1, 2, 3])
                await link.disconnect()
                return
            } catch  where attempt < attempts { continue }
        }
    }

    private static func visit(
        _ service: any PublishedService,
        _ number: UInt8,
        before deadline: Moment
    ) async throws(RadioError) -> any CentralLink {
        let visitor = try await service.nextCentral(before: deadline)
        try await visitor.notify([number, 0xAA])
        let first = try await visitor.nextWrite(before: deadline)
        let second = try await visitor.nextWrite(before: deadline)
        #expect([first, second] == [[number], [0xAA]])
        return visitor
    }

    // 28
    @Test(arguments: [true, false])
    func `a bonded central that comes back goes on with its old subscription`(
        weEnd: Bool
    ) async throws {
        let notes = Notes()
        try await FakeBench.with(ours: notes.settings) { bench in
            await bench.fake.set(HostFault(.centralPairs))
            await bench.fake.set(HostFault(.remembersSubscription))
            let deadline = soon(bench)
            try await bench.peripheral.withService(Self.bonding) {
                service throws(RadioError) in
                for number in UInt8(1)...3 {
                    let visitor = try await Self.visit(service, number, before: deadline)
                    if weEnd {
                        await visitor.disconnect()
                    } else {
                        await bench.cause(.visitorLeaves)
                        do throws(RadioError) {
                            _ = try await visitor.nextWrite(before: deadline)
                            Issue.record("a link that is lost gave something")
                        } catch { #expect(error == .linkLost) }
                    }
                }
            }
            let note = BlueZNote.subscriptionRemembered(
                adapter: "hci0",
                address: notes.found.compactMap(\.address).first ?? ""
            )
            #expect(notes.found == [note, note])
            #expect(await bench.fake.figures.centrals == 0)
        }
    }

    // 28, where the subscription is not remembered
    @Test func `a bonded central that subscribes again is served by its new socket`() async throws {
        let notes = Notes()
        try await FakeBench.with(ours: notes.settings) { bench in
            await bench.fake.set(HostFault(.centralPairs))
            let deadline = soon(bench)
            try await bench.peripheral.withService(Self.bonding) {
                service throws(RadioError) in
                for number in UInt8(1)...3 {
                    _ = try await Self.visit(service, number, before: deadline)
                    await bench.cause(.visitorLeaves)
                }
            }
            #expect(notes.found == [])
        }
    }

    // 22
    @Test func `the number of match rules does not grow with scans, links and services`()
        async throws
    {
        try await FakeBench.with { bench in
            let client = try await BusClient(bench)
            func rules() async throws -> Int {
                let values = try await client.connection.call(
                    MethodCall(
                        "GetAllMatchRules",
                        of: "org.freedesktop.DBus.Debug.Stats",
                        at: ObjectPath("/org/freedesktop/DBus") ?? .root,
                        on: "org.freedesktop.DBus"
                    )
                )
                guard case .dictionary(_, _, let entries)? = values.first else { return -1 }
                return entries.reduce(0) { $0 + ($1.value.asStrings?.count ?? 0) }
            }
            func round() async throws {
                try await exchange(bench)
                let deadline = soon(bench)
                try await bench.peripheral.withService(ContractVisitor.service) {
                    service throws(RadioError) in
                    await (try Self.visit(service, 1, before: deadline)).disconnect()
                }
            }
            try await round()
            let before = try await rules()
            for _ in 0..<5 { try await round() }
            #expect(try await rules() == before)
            // The rules of our radio, of the client and of the service together.
            #expect((1...30).contains(before), "\(before)")
            await client.connection.close()
        }
    }

    // 21
    @Test func `a module is found at once among three hundred others`() async throws {
        var settings = FakeBlueZ.Settings()
        settings.host.temporaryTimeout = .seconds(2)
        try await FakeBench.with(settings) { bench in
            await bench.fake.arrange { $0.addStrangers(300, every: .milliseconds(200)) }
            let deadline = soon(bench)
            try await bench.central.withScan(ScanFilter(companies: [ContractPeer.company])) {
                scan throws(RadioError) in
                let begun = bench.time.now
                for _ in 0..<5 {
                    // The filter passes none of the three hundred others.
                    let heard = try await scan.next(before: deadline)
                    #expect(heard.manufacturerData.keys.contains(ContractPeer.company))
                }
                #expect(begun.duration(to: bench.time.now) < .seconds(10))
            }
            let atMost = await bench.host.objectCount
            #expect(atMost <= 320, "\(atMost)")
            // Objects that the service forgets are not kept here.
            let client = try await BusClient(bench)
            try await client.wait { await bench.host.objectCount < 10 }
            await client.connection.close()
            // The devices are still there.
            try await exchange(bench)
        }
    }

    // 23
    @Test(arguments: [true, false])
    func `what the bus forbids is no want of a service`(byPolicy: Bool) async throws {
        let daemon = byPolicy ? try PrivateBus(denying: "org.bluez") : nil
        try await FakeBench.with(daemon: daemon) { bench in
            if !byPolicy { await bench.fake.set(HostFault(.accessDenied)) }
            await #expect(throws: RadioError.unauthorized) { try await find(bench) }
            let deadline = soon(bench)
            await #expect(throws: RadioError.unauthorized) {
                try await bench.peripheral.withService(ContractVisitor.service) {
                    service throws(RadioError) in
                    _ = try await service.nextCentral(before: deadline)
                }
            }
            guard !byPolicy else { return }
            await bench.fake.lift(.accessDenied)
            try await exchange(bench)
        }
    }

    /// The visitor's service, for centrals that require a bond.
    private static let bonding = ServiceDescription(
        uuid: ContractVisitor.service.uuid,
        notify: ContractVisitor.service.notify,
        write: ContractVisitor.service.write,
        bond: BondPolicy(.justWorks)
    )

    // 24
    @Test func `a central that pairs where nobody allows it is refused`() async throws {
        try await FakeBench.with { bench in
            await bench.fake.set(HostFault(.centralPairs))
            let deadline = soon(bench, .seconds(3))
            await #expect(throws: RadioError.timedOut) {
                try await bench.peripheral.withService(ContractVisitor.service) {
                    service throws(RadioError) in
                    _ = try await service.nextCentral(before: deadline)
                }
            }
        }
    }

    // 24
    @Test func `a central that pairs is served as any other`() async throws {
        try await FakeBench.with { bench in
            await bench.fake.set(HostFault(.centralPairs))
            let deadline = soon(bench)
            try await bench.peripheral.withService(Self.bonding) {
                service throws(RadioError) in
                for number in UInt8(1)...2 {
                    await (try Self.visit(service, number, before: deadline)).disconnect()
                }
            }
        }
    }

    // 20
    @Test func `a module with another address is the same one by what it says of itself`()
        async throws
    {
        try await FakeBench.with { bench in
            let before = try await find(bench)
            try await exchange(bench)
            await bench.cause(.peerChangesAddress)
            var after = before
            for _ in 0..<20 where after.peer == before.peer { after = try await find(bench) }
            #expect(after.peer != before.peer)
            #expect(after.manufacturerData == before.manufacturerData)
            try await exchange(bench, attempts: 3)
        }
    }

    // 3, 7, 10 and 17, and hosts that are older or report late
    @Test(arguments: [
        HostFault.Kind.deaf, .deafUntilPowerCycle, .unresolved, .notifyLocked, .connectNeedsQuiet,
        .noSockets, .lateMTU, .drainsSockets,
    ])
    func `work is done on a host with a failure`(kind: HostFault.Kind) async throws {
        var ours = BlueZSettings()
        ours.silence = .milliseconds(500)
        ours.servicesPatience = .seconds(1)
        try await FakeBench.with(ours: ours) { bench in
            await bench.fake.set(
                [.deaf, .deafUntilPowerCycle, .unresolved].contains(kind)
                    ? HostFault(kind, times: 1) : HostFault(kind)
            )
            // With `unresolved` the services are never found in one attempt; the next attempt
            // succeeds.
            try await exchange(bench, attempts: kind == .unresolved ? 2 : 1)
        }
    }

    // 29
    @Test(arguments: [ATTError(rawValue: 0x80), .insufficientAuthorization])
    func `a subscription that the module refuses fails at once, and bluetoothd goes on`(
        refusal: ATTError
    ) async throws {
        try await FakeBench.with { bench in
            await bench.atPeer { $0.subscriptionError = refusal }
            let peer = try await find(bench).peer
            let link = try await bench.central.connect(to: peer, before: soon(bench))
            let begun = bench.time.now
            await #expect(throws: RadioError.att(refusal)) {
                try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            }
            #expect(begun.duration(to: bench.time.now) < .seconds(3))
            #expect(await bench.atPeer { $0.subscriptions } == 1)
            await link.disconnect()
            await bench.central.forget(peer)
            #expect(await bench.fake.figures.devices == 0)
            #expect(await bench.fake.crashes == 0)
        }
    }

    // 29
    @Test func `a module that no longer accepts its subscription is not removed under bluetoothd`()
        async throws
    {
        let notes = Notes()
        try await FakeBench.with(ours: notes.settings) { bench in
            try await exchange(bench)
            await bench.atPeer { $0.subscriptionError = ATTError(rawValue: 0x80) }
            let peer = try await find(bench).peer
            let link = try await bench.central.connect(to: peer, before: soon(bench))
            // BlueZ keeps the refusal to itself this time: the socket's lock is all that it says.
            await #expect(throws: RadioError.att(.improperlyConfigured)) {
                try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            }
            await link.disconnect()
            await bench.central.forget(peer)
            #expect(await bench.fake.figures.devices == 1)
            #expect(await bench.fake.crashes == 0)
            let note = BlueZNote.subscriptionUnanswered(address: peer.handle)
            #expect(notes.found.contains(note))
        }
    }

    // 29
    @Test func `the next links of a module that accepts its subscription begin with the socket`()
        async throws
    {
        try await FakeBench.with { bench in
            for _ in 0..<3 { try await exchange(bench) }
            #expect(await bench.fake.count("StartNotify") == 1)
            #expect(await bench.fake.count("AcquireNotify") == 3)
            #expect(await bench.fake.figures.sockets == 0)
        }
    }

    // 26
    @Test func `taken advertising slots are waited for at the host too`() async throws {
        let notes = Notes()
        try await FakeBench.with(ours: notes.settings) { bench in
            await bench.fake.set(HostFault(.slotsTaken, times: 2))
            let deadline = soon(bench)
            try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                await (try Self.visit(service, 1, before: deadline)).disconnect()
            }
            #expect(notes.found == [.advertisingSlotsTaken(adapter: "hci0")])
        }
    }

    // 25
    @Test func `an adapter of one role serves a central, and connects out after it`() async throws {
        try await FakeBench.with { bench in
            await bench.fake.set(HostFault(.oneRole))
            let deadline = soon(bench)
            try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                let visitor = try await Self.visit(service, 1, before: deadline)
                do throws(RadioError) {
                    _ = try await bench.central.connect(to: Peer(handle: "X"), before: deadline)
                    Issue.record("a link beside a central")
                } catch { #expect(error == .noFreeLink) }
                await visitor.disconnect()
            }
            try await exchange(bench)
        }
    }
}

extension BlueZNote {
    fileprivate var address: String? {
        guard case .subscriptionRemembered(_, let address) = self else { return nil }
        return address
    }
}
