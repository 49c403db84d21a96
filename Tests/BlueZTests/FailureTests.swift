import Base
import BlueZ
import PrivateBus
import Radio
import RadioContract
import ScriptedHost
import Testing
import Workbench

/// Known faults of BlueZ, caused on purpose, each with this program's reaction.
///
/// The numbers are those of the table in docs/simulation.md.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
    private static let inProgress = ErrorReply("org.bluez.Error.InProgress", "In Progress")
    private static let abort = "le-connection-abort-by-local"

    private final class Notes: Sendable {
        let all = Monitor<[BlueZNote]>([])

        var settings: BlueZSettings {
            var settings = BlueZSettings()
            settings.note = { note in self.all.withLock { $0.append(note) } }
            return settings
        }

        func contains(_ note: BlueZNote) -> Bool { all.withLock { $0.contains(note) } }
    }

    private final class Memory: LinkMemory {
        let addresses: Monitor<Set<String>>

        init(_ addresses: Set<String>) { self.addresses = Monitor(addresses) }

        func links() -> Set<String> { addresses.withLock { $0 } }
        func add(_ address: String) { addresses.withLock { _ = $0.insert(address) } }
        func remove(_ address: String) { addresses.withLock { _ = $0.remove(address) } }
    }

    private func find(_ bench: ScriptedBench, for time: Duration = .seconds(60)) async throws
        -> Advertisement
    {
        let deadline = bench.time.now.advanced(by: time)
        return try await bench.central.withScan(ScanFilter(companies: [ContractPeer.company])) {
            scan throws(RadioError) in
            try await scan.next(before: deadline)
        }
    }

    private func connect(
        _ bench: ScriptedBench,
        _ peer: Peer? = nil,
        for time: Duration = .seconds(20)
    ) async throws -> any Link {
        let peer = if let peer { peer } else { try await find(bench).peer }
        return try await bench.central.connect(
            to: peer,
            before: bench.time.now.advanced(by: time)
        )
    }

    private func soon(_ bench: ScriptedBench) -> Moment {
        bench.time.now.advanced(by: .seconds(60))
    }

    // 1
    @Test func `a discovery that somebody has begun is joined`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.startErrors = [Self.inProgress] }
            // The scan hears advertisements through the other program's discovery.
            let deadline = bench.time.now.advanced(by: .seconds(1))
            await #expect(throws: RadioError.timedOut) {
                try await bench.central.withScan(ScanFilter()) { scan throws(RadioError) in
                    _ = try await scan.next(before: deadline)
                }
            }
            #expect(await bench.fake.count("StartDiscovery") == 1)
            _ = try await find(bench)
        }
    }

    // 2
    @Test func `a stop that is refused is tried once more, and scans find again`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.stopErrors = [Self.inProgress] }
            _ = try await find(bench)
            _ = try await find(bench)
            #expect(await bench.fake.count("StopDiscovery") >= 2)
        }
    }

    // 3
    @Test func `a deaf adapter is restarted, switched off and on, and reported`() async throws {
        let notes = Notes()
        var settings = notes.settings
        settings.silence = .milliseconds(300)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.change { $0.isDeaf = true }
            let ended = try await withThrowingTaskGroup(of: RadioError?.self) { group in
                group.addTask {
                    do throws(RadioError) {
                        let deadline = soon(bench)
                        return try await bench.central.withScan(ScanFilter()) {
                            scan throws(RadioError) in
                            _ = try await scan.next(before: deadline)
                            return nil
                        }
                    } catch { return error }
                }
                try await wait(for: "the report") {
                    // The task that is waited for needs this thread.
                    await Task.yield()
                    return notes.contains(.deaf(adapter: "hci0"))
                }
                group.cancelAll()
                return try await group.next() ?? nil
            }
            #expect(ended == .cancelled)
            #expect(notes.contains(.scanRestarted(adapter: "hci0")))
            #expect(notes.contains(.powerCycled(adapter: "hci0")))
            #expect(notes.all.withLock { $0.count } == 3)
            await bench.fake.change { $0.isDeaf = false }
            _ = try await find(bench)
        }
    }

    // 4
    @Test func `a connection that breaks off at once leaves nothing in the way`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.connecting = [.brief] }
            await #expect(throws: RadioError.connectFailed) { try await connect(bench) }
            let link = try await connect(bench)
            await link.disconnect()
        }
    }

    // 5
    @Test func `a connection that never answers is cancelled in its own time`() async throws {
        try await ScriptedBench.with { bench in
            let peer = try await find(bench).peer
            await bench.fake.change { $0.connecting = [.silent] }
            await #expect(throws: RadioError.timedOut) {
                try await connect(bench, peer, for: .seconds(1))
            }
            #expect(await bench.fake.count("Disconnect") == 1)
        }
    }

    // 5
    @Test func `a success without a link is no link`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.connecting = [.successWithoutLink] }
            await #expect(throws: RadioError.connectFailed) { try await connect(bench) }
        }
    }

    // 6
    @Test func `a connection that is under way is joined`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.connecting = [.inProgress] }
            let link = try await connect(bench)
            await link.disconnect()
        }
    }

    // 7
    @Test func `services that are not found three times make the host forget`() async throws {
        let notes = Notes()
        var settings = notes.settings
        settings.servicesPatience = .milliseconds(200)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.change { $0.unresolved = 3 }
            for _ in 0..<3 {
                await #expect(throws: RadioError.connectFailed) { try await connect(bench) }
            }
            #expect(notes.contains(.forgottenAsUnresolved(address: "C0:00:00:00:00:01")))
            let link = try await connect(bench)
            #expect(await bench.fake.count("RemoveDevice") == 1)
            await link.disconnect()
        }
    }

    // 7
    @Test func `a module that refuses the search for its services is named so, and not as another`()
        async throws
    {
        let notes = Notes()
        try await ScriptedBench.with(notes.settings) { bench in
            await bench.fake.change { $0.unreadable = 3 }
            for _ in 0..<3 {
                await #expect(throws: RadioError.servicesRefused) { try await connect(bench) }
            }
            #expect(notes.contains(.forgottenAsUnresolved(address: "C0:00:00:00:00:01")))
            let link = try await connect(bench)
            #expect(link.flags(of: ContractPeer.store) != nil)
            await link.disconnect()
        }
    }

    // 8
    @Test func `after forgetting, the services are those that are there now`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.hidesStore = true }
            let old = try await connect(bench)
            #expect(old.flags(of: ContractPeer.store) == nil)
            await old.disconnect()
            await bench.fake.change { $0.hidesStore = false }
            await bench.central.forget(old.peer)
            let new = try await connect(bench)
            #expect(new.flags(of: ContractPeer.store) != nil)
            await new.disconnect()
        }
    }

    @Test func `a bonded device is not forgotten, for its keys would go with it`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.isBonded = true }
            let link = try await connect(bench)
            await link.disconnect()
            await bench.central.forget(link.peer)
            #expect(await bench.fake.count("RemoveDevice") == 0)
        }
    }

    /// bluetoothd 5.82 crashes when a notify socket is closed while its link is up.
    @Test(arguments: [true, false])
    func `a central's socket is let go when its link is gone`(isEnded: Bool) async throws {
        try await ScriptedBench.with { bench in
            let deadline = soon(bench)
            try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                let visitor = try await service.nextCentral(before: deadline)
                try await visitor.notify([1, 2])
                _ = try await visitor.nextWrite(before: deadline)
                if isEnded { await visitor.disconnect() }
                // Otherwise the end of the service, or the next wait, ends the link.
            }
            #expect(await bench.fake.count("Disconnect") == 1)
            #expect(await bench.fake.count("hang-up under a link") == 0)
        }
    }

    // 8
    @Test(arguments: [ScriptedBlueZ.Bond.needed, .insisted])
    func `a module that needs a bond which nobody allows is named by its first request`(
        bond: ScriptedBlueZ.Bond
    ) async throws {
        var settings = BlueZSettings()
        settings.unbondedPatience = .milliseconds(300)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.change { $0.bond = bond }
            let link = try await connect(bench)
            let begin = bench.time.now
            await #expect(throws: RadioError.bond(.notConfigured)) {
                try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            }
            if bond == .needed {
                // The daemon does not ask again, and answers nothing more.
                await #expect(throws: RadioError.bond(.notConfigured)) {
                    try await link.read(ContractPeer.store, before: soon(bench))
                }
            }
            #expect(begin.duration(to: bench.time.now) < .seconds(10))
            await link.disconnect()
            #expect(await bench.fake.count("RegisterAgent") == 1)
            // Another program's agent stays the default one.
            #expect(await bench.fake.count("RequestDefaultAgent") == 0)
        }
    }

    // 8
    @Test func `a module that wants a bond without need is worked with`() async throws {
        var settings = BlueZSettings()
        settings.unbondedPatience = .milliseconds(300)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.change { $0.bond = .wished }
            let link = try await connect(bench)
            try await link.write([1, 2], to: ContractPeer.store, before: soon(bench))
            // It answers again only when the link ends: this is no matter of the bond any more.
            try await link.write([3], to: ContractPeer.order, before: soon(bench))
            let deadline = bench.time.now.advanced(by: .seconds(1))
            await #expect(throws: RadioError.timedOut) {
                try await link.read(ContractPeer.store, before: deadline)
            }
            await link.disconnect()
        }
    }

    // 8
    @Test func `a bond that is needed before the services are found is named, too`() async throws {
        var settings = BlueZSettings()
        settings.servicesPatience = .milliseconds(300)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.change { $0.bond = .neededForServices }
            await #expect(throws: RadioError.bond(.notConfigured)) { try await connect(bench) }
        }
    }

    // 9
    @Test func `a device that the host has dropped is searched and connected to`() async throws {
        try await ScriptedBench.with { bench in
            let peer = try await find(bench).peer
            await bench.fake.change { $0.connecting = [.unknownObject] }
            let first = try await connect(bench, peer)
            await first.disconnect()
            await bench.fake.removePeer()
            let second = try await connect(bench, peer)
            await second.disconnect()
        }
    }

    // 10
    @Test func `the scan rests while somebody connects, and goes on`() async throws {
        try await ScriptedBench.with { bench in
            let deadline = soon(bench)
            try await bench.central.withScan(ScanFilter()) { scan throws(RadioError) in
                let peer = try await scan.next(before: deadline).peer
                let stops = await bench.fake.count("StopDiscovery")
                let link = try await bench.central.connect(to: peer, before: deadline)
                let after = await bench.fake.count("StopDiscovery")
                #expect(after == stops + 1)
                await link.disconnect()
                _ = try await scan.next(before: deadline)
            }
            // The scan may just have started to continue when it was no longer wanted.
            let fake = bench.fake
            try await wait(for: "the scan to end") { () async in await !fake.isDiscovering }
        }
    }

    // 11
    @Test func `an adapter that is full says so`() async throws {
        var settings = BlueZSettings()
        settings.linksPerAdapter = 1
        try await ScriptedBench.with(settings) { bench in
            let link = try await connect(bench)
            await #expect(throws: RadioError.noFreeLink) {
                try await connect(bench, Peer(handle: "C0:00:00:00:00:09"))
            }
            await link.disconnect()
            await bench.fake.change {
                $0.connecting = [.refused("le-connection-concurrent-connection-limit")]
            }
            await #expect(throws: RadioError.noFreeLink) { try await connect(bench) }
        }
    }

    // 12
    @Test func `an adapter that is pulled out ends its links, and is known when it returns`()
        async throws
    {
        try await ScriptedBench.with { bench in
            let central = BlueZCentral(ScriptedBlueZ.adapterAddress, of: bench.host)
            let link = try await connect(bench)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            await bench.fake.unplug()
            await #expect(throws: RadioError.linkLost) {
                try await echoes.next(before: soon(bench))
            }
            let deadline = soon(bench)
            await #expect(throws: RadioError.adapterMissing) {
                try await central.withScan(ScanFilter()) { scan throws(RadioError) in
                    _ = try await scan.next(before: deadline)
                }
            }
            try await bench.fake.plugIn()
            let heard = try await central.withScan(ScanFilter()) { scan throws(RadioError) in
                try await scan.next(before: deadline)
            }
            #expect(heard.peer == link.peer)
        }
    }

    // 13 and 14
    @Test func `the end of the bus ends links and scans, and all works on the next one`()
        async throws
    {
        try await ScriptedBench.with { bench in
            let link = try await connect(bench)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            bench.daemon.stop()
            await #expect(throws: RadioError.linkLost) {
                try await echoes.next(before: soon(bench))
            }
            await #expect(throws: RadioError.serviceUnavailable) { try await find(bench) }
            await bench.fake.stop()
            try bench.daemon.start()
            try await bench.fake.start()
            let again = try await connect(bench)
            await again.disconnect()
        }
    }

    /// The first user of the radio connects to the bus for all users.
    @Test func `anyone who gives up while the bus is attached to leaves it whole for the next`()
        async throws
    {
        for pauses in 0..<12 {
            try await ScriptedBench.with { bench in
                let ended = await withTaskGroup(of: RadioError?.self) { group in
                    if pauses == 0 { group.cancelAll() }
                    group.addTask {
                        do throws(RadioError) {
                            // No device advertises this company: only the end of the task ends the
                            // scan.
                            try await bench.central.withScan(ScanFilter(companies: [1])) {
                                scan throws(RadioError) in
                                let deadline = soon(bench).advanced(by: .seconds(600))
                                _ = try await scan.next(before: deadline)
                            }
                            return nil
                        } catch { return error }
                    }
                    // Each read takes one turn on the loop's thread, the next step of connecting to
                    // the bus.
                    for _ in 0..<pauses { _ = await bench.host.objectCount }
                    group.cancelAll()
                    return await group.next() ?? nil
                }
                #expect(ended == .cancelled)
                _ = try await find(bench)
            }
        }
    }

    // 15
    @Test func `a link that a killed run has left is found, ended and made again`() async throws {
        let notes = Notes()
        var settings = notes.settings
        let memory = Memory(["C0:00:00:00:00:01"])
        settings.memory = memory
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.connectPeerForSomebody()
            let link = try await connect(bench)
            #expect(notes.contains(.leftBehind(adapter: "hci0", address: "C0:00:00:00:00:01")))
            #expect(memory.links() == ["C0:00:00:00:00:01"])
            await link.disconnect()
            #expect(memory.links().isEmpty)
        }
    }

    @Test func `a killed run's link is ended before any search, where others wait for the module`()
        async throws
    {
        let notes = Notes()
        var settings = notes.settings
        let memory = Memory(["C0:00:00:00:00:01"])
        settings.memory = memory
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.connectPeerForSomebody()
            // An adapter that is not there keeps nobody from the others.
            await bench.host.endLeftLinks(on: ["hci7", "hci0"])
            #expect(notes.contains(.leftBehind(adapter: "hci0", address: "C0:00:00:00:00:01")))
            #expect(memory.links().isEmpty)
            let reports = try await bench.host.survey()
            #expect(reports.flatMap(\.connected).isEmpty)
        }
    }

    // 16: the contract has a clause for each sign of a loss; here the only sign is the end of the
    // socket.
    @Test func `what came before a loss can still be taken`() async throws {
        try await ScriptedBench.with { bench in
            let link = try await connect(bench)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            for number in 0..<5 { try await link.send([UInt8(number)], to: ContractPeer.echo) }
            #expect(try await echoes.next(before: soon(bench)) == [0])
            try await wait(for: "all packets to arrive") { await bench.fake.written.count == 5 }
            await bench.fake.dropPeer()
            for number in 1..<5 {
                #expect(try await echoes.next(before: soon(bench)) == [UInt8(number)])
            }
            await #expect(throws: RadioError.linkLost) {
                try await echoes.next(before: soon(bench))
            }
        }
    }

    // 17
    @Test func `a lock that was left on notifications is gone around by signals`() async throws {
        let notes = Notes()
        try await ScriptedBench.with(notes.settings) { bench in
            await bench.fake.change {
                $0.acquireNotifyErrors = [
                    ErrorReply("org.bluez.Error.NotPermitted", "Notify acquired")
                ]
            }
            let link = try await connect(bench)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            try await link.send([7], to: ContractPeer.echo)
            #expect(try await echoes.next(before: soon(bench)) == [7])
            #expect(notes.contains(.notificationsBySignal(address: "C0:00:00:00:00:01")))
            await link.disconnect()
        }
    }

    // 18
    @Test func `a characteristic that is busy is asked again`() async throws {
        try await ScriptedBench.with { bench in
            let link = try await connect(bench)
            await bench.fake.change {
                $0.requestErrors = Array(repeating: Self.inProgress, count: 5)
            }
            try await link.write([1, 2], to: ContractPeer.store, before: soon(bench))
            let deadline = soon(bench)
            let reads = await withTaskGroup(of: [UInt8]?.self) { group in
                for _ in 0..<10 {
                    group.addTask { try? await link.read(ContractPeer.store, before: deadline) }
                }
                return await group.reduce(into: 0) { $0 += $1 == [1, 2] ? 1 : 0 }
            }
            #expect(reads == 10)
            await link.disconnect()
        }
    }

    // 19
    @Test func `a device that another program holds is left alone and named`() async throws {
        let notes = Notes()
        try await ScriptedBench.with(notes.settings) { bench in
            await bench.fake.connectPeerForSomebody()
            for _ in 0..<3 {
                await #expect(throws: RadioError.heldByAnother) { try await connect(bench) }
            }
            let note = BlueZNote.heldByAnother(adapter: "hci0", address: "C0:00:00:00:00:01")
            #expect(notes.all.withLock { $0 } == [note])
            #expect(await bench.fake.peerIsConnected)
            #expect(await bench.fake.count("Disconnect") == 0)
        }
    }

    // 23
    @Test func `a host without the service says so in time`() async throws {
        var settings = BlueZSettings()
        settings.servicePatience = .milliseconds(200)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.stop()
            await #expect(throws: RadioError.serviceUnavailable) { try await find(bench) }
        }
    }

    // 25
    @Test func `an adapter that serves a central does not connect out`() async throws {
        let notes = Notes()
        try await ScriptedBench.with(notes.settings) { bench in
            let deadline = soon(bench)
            try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                let visitor = try await service.nextCentral(before: deadline)
                do throws(RadioError) {
                    _ = try await bench.central.connect(to: Peer(handle: "X"), before: deadline)
                } catch { #expect(error == .noFreeLink) }
                await visitor.disconnect()
            }
            #expect(notes.contains(.adapterServesACentral(adapter: "hci0")))
        }
    }

    // 26
    @Test func `a taken advertising slot is waited for`() async throws {
        let notes = Notes()
        try await ScriptedBench.with(notes.settings) { bench in
            await bench.fake.change {
                $0.advertisementErrors = [
                    ErrorReply("org.bluez.Error.NotPermitted", "Maximum advertisements reached")
                ]
            }
            let deadline = soon(bench)
            try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                let visitor = try await service.nextCentral(before: deadline)
                await visitor.disconnect()
            }
            #expect(notes.contains(.advertisingSlotsTaken(adapter: "hci0")))
        }
    }

    // 27
    @Test(arguments: [(23, 20), (185, 182), (517, 512), (9, 20), (60_000, 512)])
    func `a central's length is kept`(mtu: Int, length: Int) async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.visitorMTU = UInt16(mtu) }
            let deadline = soon(bench)
            let found = try await bench.peripheral.withService(ContractVisitor.service) {
                service throws(RadioError) in
                let visitor = try await service.nextCentral(before: deadline)
                await visitor.disconnect()
                return visitor.maximumLength
            }
            #expect(found == length)
        }
    }

    @Test func `an advertisement that nobody answers is made again every three seconds`()
        async throws
    {
        var settings = BlueZSettings()
        settings.advertisingRound = .milliseconds(200)
        try await ScriptedBench.with(settings) { bench in
            await bench.fake.setLooking(false)
            let ended = try await withThrowingTaskGroup(of: RadioError?.self) { group in
                group.addTask {
                    do throws(RadioError) {
                        let deadline = soon(bench)
                        return try await bench.peripheral.withService(ContractVisitor.service) {
                            service throws(RadioError) in
                            _ = try await service.nextCentral(before: deadline)
                            return nil
                        }
                    } catch { return error }
                }
                try await wait(for: "three rounds") {
                    await bench.fake.count("RegisterAdvertisement") >= 3
                }
                group.cancelAll()
                return try await group.next() ?? nil
            }
            #expect(ended == .cancelled)
            try await wait(for: "the end of the service") {
                await bench.fake.count("UnregisterApplication") == 1
            }
        }
    }

    @Test func `a host without sockets is written to and heard over the bus`() async throws {
        try await ScriptedBench.with { bench in
            await bench.fake.change { $0.hasSockets = false }
            let link = try await connect(bench)
            #expect(link.maximumLength == 244)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            for number in 0..<20 { try await link.send([UInt8(number)], to: ContractPeer.echo) }
            for number in 0..<20 {
                #expect(try await echoes.next(before: soon(bench)) == [UInt8(number)])
            }
            await link.disconnect()
        }
    }

    @Test func `a request goes through though the socket for commands is held`() async throws {
        try await ScriptedBench.with { bench in
            let link = try await connect(bench)
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon(bench))
            try await link.send([1], to: ContractPeer.echo)
            try await link.write([2], to: ContractPeer.echo, before: soon(bench))
            try await link.send([3], to: ContractPeer.echo)
            for number in 1...3 {
                #expect(try await echoes.next(before: soon(bench)) == [UInt8(number)])
            }
            await link.disconnect()
        }
    }
}
