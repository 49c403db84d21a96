import Base
import Families
import Radio
import Simulation
import Synchronization
import Testing

@Suite struct DiscoveryTests {
    @Test func `all modules in reach are found with name, signal and time`() throws {
        let plans = (1...5).map { number in
            ModuleBench.module(number) {
                $0.name = "bus \(number)"
                $0.signal = number == 5 ? nil : -50 - number
            }
        }
        try ModuleBench(plans).run { bench in
            let discovery = bench.discovery()
            let last = Mutex<[DiscoveredModule]>([])
            await bench.watching(discovery) { list in
                if !list.isEmpty { last.withLock { $0 = list } }
            } during: {
                await #expect(throws: Never.self) { try await discovery.scan(for: .short) }
            }
            let list = last.withLock { $0 }
            #expect(list.map(\.serial) == (1...4).map(ModuleBench.serial))
            #expect(list.map(\.name) == (1...4).map { "bus \($0)" })
            #expect(list.map(\.signal) == [-51, -52, -53, -54])
            #expect(list.allSatisfy { $0.family == .comodule && !$0.isInBootloader })
            #expect(bench.time.now.nanoseconds >= 5_000_000_000)
            #expect(discovery.modules.value.isEmpty)
            #expect(!discovery.isScanning.value)
        }
    }

    @Test(arguments: [
        (ScanLength.short, 5), (.medium, 30), (.long, 60), (.lasting(.seconds(7)), 7),
    ])
    func `a scan lasts as long as it was told to`(length: ScanLength, seconds: Int) throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let began = bench.time.now
            try await bench.discovery().scan(for: length)
            #expect(began.duration(to: bench.time.now) == .seconds(seconds))
        }
    }

    @Test func `a scan ends with the one that was wanted`() throws {
        try ModuleBench((1...9).map { ModuleBench.module($0) }).run { bench in
            let found = try await bench.discovery().scan(for: .long) {
                $0.serial == ModuleBench.serial(7)
            }
            #expect(found?.serial == ModuleBench.serial(7))
            #expect(bench.time.now.nanoseconds < 2_000_000_000)
        }
    }

    @Test func `a module is lost when it was not heard for five seconds`() throws {
        try ModuleBench([ModuleBench.module(1), ModuleBench.module(2)]).run { bench in
            let discovery = bench.discovery()
            let lists = Mutex<[(Moment, [Serial])]>([])
            await bench.watching(discovery) { list in
                lists.withLock { $0.append((bench.time.now, list.map(\.serial))) }
            } during: {
                async let scan = try? discovery.scan(for: .medium)
                await bench.time.sleep(for: .seconds(10), "both to be heard")
                // A connected module does not advertise.
                let client = try? await bench.client(2)
                let silent = bench.time.now
                await bench.time.sleep(for: .seconds(15), "the second to be lost")
                #expect(discovery.modules.value.map(\.serial) == [ModuleBench.serial(1)])
                let lost = lists.withLock { lists in
                    lists.first { $0.0 > silent && $0.1.count == 1 }
                }
                let after = lost.map { silent.duration(to: $0.0) } ?? .zero
                #expect(after > .seconds(4) && after <= .seconds(6), "\(after)")
                await client?.disconnect()
                _ = await scan
            }
        }
    }

    @Test func `what goes wrong is reported and ends the scan`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let discovery = bench.discovery()
            await bench.simulation.air.setPower("hci0", on: false)
            await #expect(throws: DiscoveryProblem.bluetoothDisabled) {
                try await discovery.scan(for: .short)
            }
            #expect(discovery.problem.value == .bluetoothDisabled)
            await bench.simulation.air.setPower("hci0", on: true)
            try await discovery.scan(for: .short)
            #expect(discovery.problem.value == nil)
            async let off: Void = {
                await bench.time.sleep(for: .seconds(2), "the adapter to go")
                await bench.simulation.air.removeAdapter("hci0")
            }()
            await #expect(throws: DiscoveryProblem.bluetoothNotSupported) {
                try await discovery.scan(for: .medium)
            }
            await off
        }
    }

    // MARK: Families and profiles

    private static func advertisement(
        _ company: UInt16? = nil,
        _ data: [UInt8] = [],
        name: String? = nil,
        services: [GATTUUID] = []
    ) -> Advertisement {
        Advertisement(
            peer: Peer(handle: "x"),
            name: name,
            signal: -40,
            manufacturerData: company.map { [$0: data] } ?? [:],
            services: services
        )
    }

    @Test func `modules of every family that advertises are distinguished`() {
        let smp = sure(GATTUUID("8d53dc1d-1db7-4cd3-868b-8a527460aa84"))
        let cases: [(Advertisement, Family?, String?)] = [
            (Self.advertisement(0x020F, [1, 2, 3, 4, 5, 6, 7, 8]), .comodule, "0102030405060708"),
            (Self.advertisement(0xFFFF, [0x99, 0x99, 1, 2, 3, 0xAB]), .lrdevice, "9999010203ab"),
            (Self.advertisement(name: "YM-box-17", services: [smp]), .mcumgr, "box-17"),
            (Self.advertisement(0x020F, [1, 2, 3]), nil, nil),
            (Self.advertisement(0x020F, Array(1...9)), nil, nil),
            (Self.advertisement(0xFFFF, []), nil, nil),
            (Self.advertisement(0x004C, Array(1...8)), nil, nil),
            (Self.advertisement(name: "YM-box-17"), nil, nil),
            (Self.advertisement(name: "YM-", services: [smp]), .mcumgr, "ym-"),
            (Self.advertisement(name: "YM-a b", services: [smp]), .mcumgr, "a_b"),
            (
                Self.advertisement(name: "Tr\u{E4}cker 7", services: [smp]), .mcumgr,
                "tr%c3%a4cker_7"
            ),
            (Self.advertisement(services: [smp]), .mcumgr, "x"),
        ]
        for (advertisement, family, serial) in cases {
            let found = ProfileLibrary.shipped.recognise(advertisement)
            #expect(found?.family == family)
            #expect(found?.serial.text == serial)
        }
    }
}

extension ModuleBench {
    func discovery() -> Discovery { Discovery(central: central, time: time, library: .shipped) }

    func watching(
        _ discovery: Discovery,
        _ each: @escaping @Sendable ([DiscoveredModule]) -> Void,
        during body: () async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await list in discovery.modules.values() { each(list) } }
            await body()
            group.cancelAll()
        }
    }
}
