import Base
import Families
import Foundation
import Simulation
import Testing

/// Locks in the file of a depot.
@Suite struct LRDepotTests {
    private func read(_ text: String) throws -> (DepotFile?, [String]) {
        let diagnostics = Diagnostics()
        let tree = SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics)
        let depot = tree.flatMap {
            DepotFile.read($0, families: FamilyRegistry.simulated, diagnostics)
        }
        return (depot, diagnostics.list.map { "\($0.place): \($0.message)" })
    }

    @Test func `a lock stands beside other modules`() throws {
        let (depot, errors) = try read(
            """
            name: yard
            modules:
              - {serial: "00a0000000000001", key: "01"}
              - family: lrdevice
                serial: "0A0B0C0D0E0F"
                key: "\(String(repeating: "42", count: 32))"
                password: hidden
                unlocked: true
                auto-lock: 30
                networks: [depot, yard]
                guest-code: "123456"
                guest-id: "7"
                answer-time: 50ms
                faults:
                  - {silent: true, times: 2}
                  - {storm: 100}
            """
        )
        #expect(errors == [])
        let lock = try #require(depot?.modules.lazy.compactMap { $0 as? LRDevicePlan }.first)
        #expect(depot?.modules.count { $0 is ModulePlan } == 1)
        #expect(lock.serial.text == "0a0b0c0d0e0f")
        #expect(lock.key?.count == 32 && lock.password == Array("hidden".utf8))
        #expect(lock.state == .unlocked && lock.autoLock == 30)
        #expect(lock.networks == ["depot", "yard"])
        #expect(lock.guest == LRDevicePlan.Guest(code: "123456", id: "7"))
        #expect(lock.faults == [.init(.silent, times: 2), .init(.storm(100))])
    }

    @Test func `mistakes of a lock have their places`() throws {
        let (depot, errors) = try read(
            """
            name: yard
            modules:
              - family: lrdevice
                serial: "0A0B"
                key: "42"
                auto-lock: 256
                faults: [{silent: true, garbage: true}]
                colour: red
            """
        )
        #expect(depot == nil)
        #expect(errors.count == 5)
        #expect(errors.contains { $0.hasPrefix("depot.yaml:4:5: a lock's serial") })
        #expect(errors.contains { $0.hasPrefix("depot.yaml:5:5: a simulated lock's key") })
    }

    @Test func `a serial is given once, whatever the family`() throws {
        let (_, errors) = try read(
            """
            name: yard
            modules:
              - {family: lrdevice, serial: "0a0b0c0d0e0f"}
              - {family: lrdevice, serial: "0A0B0C0D0E0F"}
            """
        )
        #expect(errors.count == 1)
        #expect(errors.first?.contains("is taken by the module at depot.yaml:3") == true)
    }

    @Test func `a lock remembers over the end of the process, until its file has it otherwise`()
        throws
    {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "memory-\(UInt64.random(in: 0 ... .max))").path
        defer {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.removeItem(atPath: "\(path).deeds")
        }
        func depot(_ more: String) throws -> SimulatedDepot {
            let lock = "{family: lrdevice, serial: \"0a0b0c0d0e0f\"\(more)}"
            let (file, errors) = try read("name: yard\nmodules:\n  - \(lock)")
            #expect(errors == [])
            return try SimulatedDepot(try #require(file), memoryPath: path)
        }
        func write(_ bytes: [UInt8]?, to depot: SimulatedDepot) throws -> String? {
            try depot.simulation.run {
                guard (try? await depot.populate()) != nil else { return nil }
                await depot.simulation.air.arrange { world in
                    guard let bytes else { return }
                    _ = world.modules(LRDevice.self).first?.written(bytes, to: LRNumbers.request)
                }
                await depot.simulation.time.sleep(for: .seconds(1), "the lock to save")
                return await depot.simulation.air.arrange { $0.modules(LRDevice.self).first?.name }
            }
        }
        let rename = try #require(LRMessage(.request, .setName, payload: Array("Gate".utf8)))
        #expect(try write(rename.bytes, to: depot("")) == "Gate")
        #expect(try write(nil, to: depot("")) == "Gate")
        #expect(try write(nil, to: depot(", auto-lock: 9")) == "SmartLock")
        let deeds = try String(contentsOfFile: "\(path).deeds", encoding: .utf8)
        #expect(deeds.hasSuffix("Z 0a0b0c0d0e0f \(LRCommand.setName)\n"))
    }
}
