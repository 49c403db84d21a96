import Base
import BlueZ
import Glibc
import Radio
import RadioContract
import ScriptedHost

/// The measurements, each with this process's radio.
struct BlueZBenchSite {
    let address: BusAddress
    let loop: EventLoop
    let time: LoopTime
    let host: BlueZ

    private var central: BlueZCentral { BlueZCentral("hci0", of: host) }

    private static let device = "/org/bluez/hci0/dev_C0_00_00_00_00_01"
    private static let echo = device + "/service0001/char0002"
    private static let filter = ScanFilter(companies: [ContractPeer.company])
    private static let packet = [UInt8](repeating: 0x5A, count: 244)

    private func soon(_ seconds: Int = 20) -> Moment { time.now.advanced(by: .seconds(seconds)) }

    private func find() async throws(RadioError) -> Peer {
        let deadline = soon()
        return try await central.withScan(Self.filter) { scan throws(RadioError) in
            try await scan.next(before: deadline).peer
        }
    }

    private func link() async throws -> any Link {
        try await central.connect(to: find(), before: soon())
    }

    // MARK: Packets

    func packets(_ count: Int) async throws {
        let byCalls = try await callByCall(max(1, count / 20))
        let link = try await link()
        let bySocket = try await measure(count) {
            try await link.send(Self.packet, to: ContractPeer.echo)
        }
        // All earlier packets have arrived when the peer answers a read.
        _ = try await link.read(ContractPeer.store, before: soon())
        await link.disconnect()
        print("| way | packets a second | processor time, s per MiB |")
        print("|---|---|---|")
        row("`WriteValue`, one at a time", byCalls)
        row("our acquired socket", bySocket)
        let ratio = Decimals.text(bySocket.rate / byCalls.rate, 1)
        print("| ratio (at least 10) | \(ratio) | (at most 0.03) |")
        if bySocket.rate < 10 * byCalls.rate || bySocket.costs > 0.03 { exit(1) }
    }

    /// Like programs without the socket, on a separate link.
    private func callByCall(_ count: Int) async throws -> Measured {
        _ = try await find()
        let bus = try await Connection.open(address, on: loop)
        guard let device = ObjectPath(Self.device), let echo = ObjectPath(Self.echo) else {
            throw BusError.disconnected
        }
        func ask(_ member: String) async throws {
            let interface = "org.bluez.Device1"
            _ = try await bus.call(
                MethodCall(member, of: interface, at: device, on: "org.bluez")
            )
        }
        try await ask("Connect")
        await time.sleep(until: soon(1), for: "the services")
        let command = DBusEntry(
            key: .string("type"),
            value: .variant(.string("command"))
        )
        let measured = try await measure(count) {
            _ = try await bus.call(
                MethodCall(
                    "WriteValue",
                    of: "org.bluez.GattCharacteristic1",
                    at: echo,
                    on: "org.bluez",
                    [
                        .bytes(Self.packet),
                        .dictionary(key: .string, value: .variant, [command]),
                    ]
                )
            )
        }
        try await ask("Disconnect")
        await bus.close()
        return measured
    }

    private struct Measured {
        let rate: Double
        let costs: Double
    }

    private func measure(
        _ count: Int,
        bytes each: Int = packet.count,
        _ send: () async throws -> Void
    ) async throws -> Measured {
        let (began, spent) = (EventLoop.now, Usage.processor())
        for _ in 0..<count { try await send() }
        let took = began.duration(to: EventLoop.now)
        let bytes = Double(count * each)
        return Measured(
            rate: Double(count) / took.seconds,
            costs: (Usage.processor() - spent).seconds / (bytes / 1_048_576)
        )
    }

    private func row(_ name: String, _ measured: Measured) {
        let rate = Int(measured.rate)
        print("| \(name) | \(rate) | \(Decimals.text(measured.costs, 4)) |")
    }

    // MARK: Exchanges

    /// Like an upload over SMP with a window of one, on the thread that reads the sockets.
    func exchanges(_ count: Int) async throws {
        let link = try await link()
        let echoes = try await link.subscribe(to: ContractPeer.echo, before: soon())
        let frame = [UInt8](repeating: 0x5A, count: 384)
        let measured = try await withTaskExecutorPreference(host.packetExecutor) {
            try await measure(max(1, count), bytes: frame.count) {
                try await link.send(frame, to: ContractPeer.echo)
                _ = try await echoes.next(before: soon())
            }
        }
        await link.disconnect()
        if count > 0 { row("our radio", measured) }
    }

    // MARK: A crowd

    func crowd(seconds: Int) async throws {
        let (began, spent) = (EventLoop.now, Usage.processor())
        let end = began.advanced(by: .seconds(seconds))
        let settled = began.advanced(by: .seconds(seconds / 6))
        let deadline = soon(seconds + 20)
        var (heard, longest, last, early) = (0, Duration.zero, began, 0)
        try await central.withScan(Self.filter) { scan throws(RadioError) in
            while EventLoop.now < end {
                _ = try await scan.next(before: deadline)
                let now = EventLoop.now
                if heard > 0 { longest = max(longest, last.duration(to: now)) }
                (heard, last) = (heard + 1, now)
                if early == 0, now > settled { early = Usage.memory() }
            }
        }
        let share = (Usage.processor() - spent).seconds / Double(seconds)
        let late = Usage.memory()
        print("| what | measured | promised |")
        print("|---|---|---|")
        print("| resident memory after \(seconds / 6) s, KiB | \(early) | |")
        print("| resident memory at the end, KiB | \(late) | 65536, flat |")
        print("| share of a core | \(Decimals.text(share, 3)) | 0.333 |")
        print("| longest silence of the sought module, ms | \(longest.milliseconds) | 2000 |")
        print("| heard of it | \(heard) | |")
        let isFlat = late - early < 4_096 && late < 65_536
        if !isFlat || share > 0.333 || longest > .seconds(2) { exit(1) }
    }

    // MARK: Links

    /// Measures what is left after `count` links, with an action after each.
    func cycles(
        _ count: Int,
        of what: String = "links",
        then happen: (() async throws -> Void)? = nil
    ) async throws {
        let bus = try await Connection.open(address, on: loop)
        var first: Held?
        for number in 1...max(11, count) {
            if let happen {
                try await cycleOnceBack()
                try await happen()
            } else {
                try await cycle()
            }
            if number == 10 { first = try await held(bus) }
        }
        let last = try await held(bus)
        guard let first else { return }
        print("| held by our process | after 10 \(what) | after \(count) |")
        print("|---|---|---|")
        print("| descriptors | \(first.descriptors) | \(last.descriptors) |")
        print("| match rules on the bus, of all | \(first.rules) | \(last.rules) |")
        print("| objects mirrored | \(first.objects) | \(last.objects) |")
        print("| resident memory, KiB | \(first.memory) | \(last.memory) |")
        await bus.close()
        let isSame =
            (first.descriptors, first.rules, first.objects)
            == (last.descriptors, last.rules, last.objects)
        if !isSame { exit(1) }
    }

    /// Makes a link as soon as the service is back.
    private func cycleOnceBack() async throws {
        let deadline = soon()
        while true {
            do { return try await cycle() } catch {
                guard time.now < deadline else { throw error }
                await time.sleep(
                    until: time.now.advanced(by: .milliseconds(20)),
                    for: "the service"
                )
            }
        }
    }

    private func cycle() async throws {
        let link = try await link()
        let answers = try await link.subscribe(to: ContractPeer.echo, before: soon())
        try await link.send([1, 2, 3], to: ContractPeer.echo)
        _ = try await answers.next(before: soon())
        await link.disconnect()
    }

    private struct Held {
        let descriptors: Int
        let rules: Int
        let objects: Int
        let memory: Int
    }

    private func held(_ bus: Connection) async throws -> Held {
        guard let root = ObjectPath("/org/freedesktop/DBus") else { throw BusError.disconnected }
        let values = try await bus.call(
            MethodCall(
                "GetStats",
                of: "org.freedesktop.DBus.Debug.Stats",
                at: root,
                on: "org.freedesktop.DBus"
            )
        )
        return Held(
            descriptors: Usage.descriptors(),
            rules: values.first?.asProperties?["MatchRules"]?.asInt ?? -1,
            objects: await host.objectCount,
            memory: Usage.memory()
        )
    }

    func links(_ count: Int) async throws {
        // The first link includes setup that happens only once.
        try await cycle()
        let spent = Usage.processor()
        for _ in 0..<count { try await cycle() }
        let each = (Usage.processor() - spent).seconds * 1_000 / Double(max(1, count))
        print("| own time for a scan, a link, its services and one answer, ms | at most |")
        print("|---|---|")
        print("| \(Decimals.text(each, 2)) | 10 |")
        if each > 10 { exit(1) }
    }
}
