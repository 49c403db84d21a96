import Base
import BlueZ
import Families
import Foundation
import Lab
import PrivateBus
import Radio
import RadioContract
import Simulation
import Testing

@Suite(.timeLimit(.minutes(5))) struct HostFaultTests {
    @Test func `every fault and incident stands in the documentation`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/simulation.md"),
            encoding: .utf8
        )
        for name in HostOrder.faults + HostOrder.incidents {
            #expect(text.contains("`\(name)`"), "\(name)")
        }
    }

    @Test(arguments: HostOrder.incidents)
    func `every incident can be ordered by its name`(name: String) {
        var order = HostOrder(name)
        order.module = "m"
        #expect(order.incident != nil)
        #expect(order.fault == nil)
    }

    @Test func `an order is one line`() throws {
        let order = try #require(
            HostOrder(line: "stale-services times=2 module=m lacks=2556 adapter=hci1")
        )
        #expect(
            order.fault
                == HostFault(
                    .staleServices,
                    times: 2,
                    module: "m",
                    lacking: GATTUUID(short: 0x2556)
                )
        )
        #expect(
            HostOrder(line: "plug-in as=hci3")?.incident == .plugIn(adapter: "hci0", as: "hci3")
        )
        #expect(HostOrder(line: "restart after=2s")?.incident == .restart(after: .seconds(2)))
    }

    @Test func `a fault is used up by the module it is meant for`() {
        var faults = HostFaults([HostFault(.connectAborted, times: 2, module: "a")])
        #expect(faults.happens(.connectAborted, to: ["b"]) == nil)
        #expect(faults.happens(.connectAborted, to: ["a", "c"]) != nil)
        #expect(faults.happens(.connectAborted, to: ["a"]) != nil)
        #expect(faults.happens(.connectAborted, to: ["a"]) == nil)
        faults.add(HostFault(.unresolved))
        for _ in 0..<3 { #expect(faults.happens(.unresolved, to: ["x"]) != nil) }
        faults.lift(.unresolved)
        #expect(faults == HostFaults())
    }

    @Test func `a depot's file sets the host and its faults`() throws {
        let diagnostics = Diagnostics()
        let text = """
            name: d
            modules: []
            host:
              strangers: 3
              address-lifetime: 15m
              faults:
                - {connect-aborted: true, times: 3, module: "00a0000000000001"}
                - {unresolved: true, always: true}
                - {stale-services: true, lacks: "2556"}
            """
        let tree = SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics)
        let file = tree.flatMap {
            DepotFile.read($0, families: FamilyRegistry.simulated, diagnostics)
        }
        let host = try #require(file).host
        #expect(host.strangers == 3)
        #expect(host.addressLifetime == .seconds(900))
        #expect(
            host.faults == [
                HostFault(.connectAborted, times: 3, module: "00a0000000000001"),
                HostFault(.unresolved),
                HostFault(.staleServices, times: 1, lacking: GATTUUID(short: 0x2556)),
            ]
        )
    }

    /// Everything that a restart has started ends before its thread does.
    @Test(arguments: 0..<40)
    func `a service may be closed in the middle of a restart`(turn: Int) async throws {
        let bus = try PrivateBus()
        let fake = try FakeBlueZ(#require(BusAddress(bus.address)))
        try await fake.start()
        try await beginRestart(of: fake, turn)
        await fake.close()
    }

    /// Starts a restart; half of the time a program on the bus orders it, so that it may still be
    /// running when the service is closed.
    private func beginRestart(of fake: FakeBlueZ, _ turn: Int) async throws {
        guard turn.isMultiple(of: 2) else {
            await fake.cause(.restart(after: .milliseconds(turn % 5)))
            return
        }
        let client = try await Connection.open(fake.address, on: fake.loop)
        try await client.send(
            MethodCall(
                "Order",
                of: "ee.yardmaster.Depot1",
                at: Control.path,
                on: Control.name,
                [.string("restart after=\(turn % 5)ms")]
            )
        )
        for _ in 0..<turn / 8 { _ = try await client.owner(of: Control.name) }
        await client.close()
    }

    @Test func `a program on the bus lets things go wrong and sees how they stand`() async throws {
        try await FakeBench.with { bench in
            let address = bench.fake.address
            let client = try await Connection.open(address, on: bench.fake.loop)
            func call(_ member: String, _ arguments: [DBusValue] = []) async throws -> [DBusValue] {
                try await client.call(
                    MethodCall(
                        member,
                        of: "ee.yardmaster.Depot1",
                        at: Control.path,
                        on: Control.name,
                        arguments
                    )
                )
            }
            _ = try await call("Order", [.string("connect-aborted times=1")])
            #expect(try await call("Faults") == [.strings(["connect-aborted"])])
            let peer = try await bench.central.withScan(
                ScanFilter(companies: [ContractPeer.company])
            ) { scan throws(RadioError) in
                try await scan.next(before: bench.time.now.advanced(by: .seconds(60)))
            }.peer
            await #expect(throws: RadioError.connectFailed) {
                _ = try await bench.central.connect(
                    to: peer,
                    before: bench.time.now.advanced(by: .seconds(60))
                )
            }
            #expect(try await call("Faults") == [.strings([])])
            _ = try await call("Order", [.string("restart after=50ms")])
            for line in [
                "earthquake", "deaf x=1", "deaf times=0", "restart after=2", "link-lost", "",
            ] {
                await #expect(throws: BusError.self) {
                    _ = try await call("Order", [.string(line)])
                }
            }
            #expect(try await call("Faults") == [.strings([])])
            await client.close()
        }
    }
}
