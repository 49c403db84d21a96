import Base
import Families
import Simulation
import Testing

/// GO devices in depot files.
@Suite struct DepotTests {
    private func read(_ text: String) -> (file: DepotFile?, messages: [String]) {
        let diagnostics = Diagnostics()
        let tree = SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics)
        let file = tree.flatMap {
            DepotFile.read($0, families: FamilyRegistry.simulated, diagnostics)
        }
        return (file, diagnostics.list.map(\.description))
    }

    private func depot(_ device: String) -> String {
        """
        name: cars
        tenant-keys: ["\(String(repeating: "c3", count: 256))"]
        link: {mtu: 185}
        modules:
          - {serial: "00a0000000000001", key: "00", count: 2}
          - \(device)
        """
    }

    @Test func `a device is read with everything about it`() throws {
        let (file, messages) = read(
            depot(
                """
                serial: G9-0001
                    family: geotab-go
                    hardware-id: 553845661
                    reaction-time: 2s
                    operation-time: 3s
                    clock-behind: 1h
                    link-loss: 10%
                    stray-centrals: 2
                    impostor: busy
                    link: {interval: 15ms}
                    vehicle: {ignition: true, locked: true, fuel: 20%, has-position: false,
                      reservation: R-1}
                    faults:
                      - {no-handshake: true, times: 2}
                      - {nack: 4}
                      - {status: 3348, value: 2}
                      - {disconnect-in: result}
                      - {handshake-again-in: challenge}
                      - {challenge-length: 31}
                      - {late-result: 75s}
                """
            )
        )
        #expect(messages == [])
        let device = try #require(file?.modules.lazy.compactMap { $0 as? GOPlan }.first)
        #expect(file?.modules.count { $0 is ModulePlan } == 2)
        #expect(device.serial.text == "g9-0001")
        #expect(device.hardwareID == 553_845_661)
        #expect(device.tenants == [[UInt8](repeating: 0xC3, count: 256)])
        #expect(device.reactionTime == .seconds(2))
        #expect(device.operationTime == .seconds(3))
        #expect(device.clockOffset == .seconds(-3_600))
        #expect(device.lossChance == 1_000)
        #expect(device.strayCentrals == 2)
        #expect(device.impostor == .busy)
        #expect(device.link.mtu == 185)
        #expect(device.link.interval == .milliseconds(15))
        #expect(device.vehicle.isIgnitionOn)
        #expect(device.vehicle.isLocked)
        #expect(device.vehicle.fuel == 0.2)
        #expect(device.vehicle.position == nil)
        #expect(device.vehicle.reservation == "R-1")
        #expect(
            device.faults == [
                GOPlan.Fault(.noHandshake, times: 2), GOPlan.Fault(.nack(4)),
                GOPlan.Fault(.status(id: 3_348, value: 2)),
                GOPlan.Fault(.disconnect(in: .result)),
                GOPlan.Fault(.secondHandshake(in: .challenge)),
                GOPlan.Fault(.challengeLength(31)), GOPlan.Fault(.lateResult(.seconds(75))),
            ]
        )
    }

    @Test func `a series has numbers behind its serial and hardware ids that count up`() throws {
        let (file, _) = read(
            depot("{serial: CAR, family: geotab-go, hardware-id: 7, count: 3, clock-unset: true}")
        )
        let devices = try #require(file).modules.compactMap { $0 as? GOPlan }
        #expect(devices.map(\.serial.text) == ["car-1", "car-2", "car-3"])
        #expect(devices.map(\.hardwareID) == [7, 8, 9])
        #expect(devices.allSatisfy { $0.clockOffset == nil })
    }

    @Test(
        arguments: [
            ("{serial: CAR, family: geotab-go}", "hardware-id"),
            ("{family: geotab-go, hardware-id: 7}", "serial"),
            ("{serial: CAR, family: geotab-go, hardware-id: 4294967296}", "4294967295"),
            ("{serial: CAR, family: geotab-go, hardware-id: 7, key: \"00\"}", "key"),
            ("{serial: CAR, family: geotab-go, hardware-id: 7, tenant-keys: [\"c3\"]}", "2048"),
            (
                "{serial: CAR, family: geotab-go, hardware-id: 7, faults: [{nack: 1, no-ack: true}]}",
                "one thing"
            ),
            (
                "{serial: CAR, family: geotab-go, hardware-id: 7, faults: [{disconnect-in: air}]}",
                "air"
            ),
            (
                "{serial: CAR, family: geotab-go, hardware-id: 4294967295, count: 2}",
                "no 2 serials"
            ),
        ]
    )
    func `what is wrong with a device is said with its place`(device: String, word: String) {
        let (file, messages) = read(depot(device))
        #expect(file == nil)
        #expect(messages.contains { $0.contains("depot.yaml:") && $0.contains(word) })
    }

    @Test func `a serial that another module has is refused`() {
        let (file, messages) = read(
            depot("{serial: 00a0000000000001, family: geotab-go, hardware-id: 7}")
        )
        #expect(file == nil)
        #expect(messages.contains { $0.contains("is taken") })
    }

    @Test func `three tenant keys are more than a device holds`() {
        let key = String(repeating: "c3", count: 256)
        let (file, messages) = read(
            depot(
                """
                {serial: CAR, family: geotab-go, hardware-id: 7,
                    tenant-keys: ["\(key)", "\(key)", "\(key)"]}
                """
            )
        )
        #expect(file == nil)
        #expect(messages.contains { $0.contains("two tenant keys at most") })
    }

    @Test func `a depot puts its devices on the air`() throws {
        let (file, _) = read(depot("{serial: CAR, family: geotab-go, hardware-id: 7, count: 3}"))
        let depot = try SimulatedDepot(#require(file))
        let labels = try depot.simulation.run { () async -> [String] in
            do throws(SimulatedDepot.MemoryFailure) {
                try await depot.populate()
            } catch { return [error.description] }
            return await depot.simulation.air.arrange { world in
                world.visitors.map(\.label).sorted()
            }
        }
        #expect(labels == ["car-1", "car-2", "car-3"])
    }
}
