import Base
import Families
import Foundation
import Images
import Radio
import Samples
import Simulation
import Testing

/// Modules of family `mcumgr` in the file of a depot.
@Suite struct SMPDepotTests {
    private func depot(_ modules: String) throws -> (file: DepotFile?, errors: [String]) {
        let diagnostics = Diagnostics()
        let text = "name: test\nmodules:\n" + modules
        let url = FileManager.default.temporaryDirectory
            .appending(path: "depot-\(UInt64.random(in: 0 ... .max)).yaml")
        try text.write(to: url, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try DepotFile.load(
            path: url.path,
            families: FamilyRegistry.simulated,
            diagnostics
        )
        return (file, diagnostics.list.map(\.message))
    }

    @Test func `everything a module is can be said`() throws {
        let key = try fixture("public-key.der")
        let (file, errors) = try depot(
            """
              - {serial: ym-0007, family: mcumgr, count: 3, version: "1.2.3.45"}
              - serial: NRF53
                family: mcumgr
                versions: ["1.0.0", "2.0.0"]
                bootloader: direct-xip
                buffer-size: 384
                buffers: 2
                reassembles: false
                protocol: 1
                refuses-downgrade: true
                erases-first: true
                public-key: "\(Hex.text(key))"
                recalls-upload: always
                message-time: 3ms
                link: {mtu: 185}
                faults: [{link-lost-at: 20KiB, times: 3}, {crashes: true}]
            """
        )
        #expect(errors == [])
        let modules = try #require(file).modules.compactMap { $0 as? SMPModulePlan }
        #expect(modules.map(\.serial.text) == ["ym-0007", "ym-0008", "ym-0009", "nrf53"])
        #expect(modules[1].versions == [FirmwareVersion(1, 2, 3, build: 45)])
        #expect(modules[3].versions.count == 2)
        #expect(modules[3].rules.mode == .directXIP)
        #expect(modules[3].rules.bufferSize == 384 && modules[3].rules.bufferCount == 2)
        #expect(!modules[3].rules.reassembles && modules[3].rules.isVersion1)
        #expect(modules[3].rules.refusesDowngrade && !modules[3].rules.erasesAsItGoes)
        #expect(modules[3].rules.key == key && modules[3].rules.recall == .always)
        #expect(modules[3].messageTime == .milliseconds(3) && modules[3].link.mtu == 185)
        #expect(modules[3].faults == [.init(.linkLost(at: 20_480), times: 3), .init(.crashes)])
    }

    @Test(arguments: [
        ("{serial: ym-1, family: mcumgr, bootlader: swap}", "bootlader"),
        ("{serial: ym-1, family: mcumgr, version: one}", "is not a version"),
        ("{serial: ym-1, family: mcumgr, versions: []}", "1 to 4 images"),
        ("{serial: \"a b\", family: mcumgr}", "without spaces"),
        ("{serial: ym, family: mcumgr, count: 2}", "ends in up to nine digits"),
        ("{serial: ym-1, family: mcumgr, public-key: \"xyz\"}", "DER in hex"),
        ("{serial: ym-1, family: mcumgr, faults: [{busy: true, crashes: true}]}", "one thing"),
        ("{serial: ym-1, family: mcumgr, bootloader: magic}", "magic"),
    ])
    func `what makes no sense is reported`(item: String, words: String) throws {
        let (file, errors) = try depot("  - " + item)
        #expect(file == nil)
        #expect(errors.contains { $0.contains(words) }, "\(errors)")
    }

    @Test func `a serial is given once, whatever the family`() throws {
        let (file, errors) = try depot(
            """
              - {serial: ym-0001, family: mcumgr, count: 2}
              - {serial: ym-0002, family: mcumgr}
            """
        )
        #expect(file == nil)
        #expect(errors.contains { $0.contains("ym-0002 is taken") })
    }

    /// Runs `body` with a client on a link to the depot's first module.
    private func onLink<R: Sendable>(
        _ depot: SimulatedDepot,
        _ body: @escaping @Sendable (SMPClient) async throws(RadioError) -> R
    ) throws -> R {
        let simulation = depot.simulation
        let result = try simulation.run { () async -> Result<R, any Error> in
            do {
                try await depot.populate()
                let radio = depot.radio("hci0")
                let deadline = simulation.time.now.advanced(by: .seconds(60))
                let heard = try await radio.withScan(ScanFilter()) { scan throws(RadioError) in
                    try await scan.next(before: deadline)
                }
                let link = try await radio.connect(to: heard.peer, before: deadline)
                let client = SMPClient(link: link, time: simulation.time)
                let result = try await body(client)
                await client.disconnect()
                // The module saves its state at the end of the current moment.
                await simulation.time.sleep(for: .seconds(1), "the module to save")
                return .success(result)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    @Test func `a module remembers over the end of the process`() throws {
        let (file, _) = try depot("  - {serial: ym-0001, family: mcumgr, restart-time: 100ms}")
        let path = FileManager.default.temporaryDirectory
            .appending(path: "memory-\(UInt64.random(in: 0 ... .max))").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let image = try MCUbootFile.sample(size: 5_000)
        let settings = try #require(SMPSettings(frameLength: 384, window: 3))
        let first = try SimulatedDepot(try #require(file), memoryPath: path)
        let ending = try onLink(first) { (client) async throws(RadioError) in
            let (ending, _) = try await client.upload(
                image.bytes,
                sha: nil,
                settings: settings,
                unless: { false },
                progress: { _ in }
            )
            _ = try await client.ask(
                .setState(hash: image.image.hash, isConfirmed: false),
                limit: .seconds(5)
            )
            return ending
        }
        #expect(ending == .finished(matches: nil))
        let second = try SimulatedDepot(try #require(file), memoryPath: path)
        let list = try onLink(second) { (client) async throws(RadioError) in
            let list = try await client.survey()
            _ = try await client.ask(.reset(isForced: false), limit: .seconds(5))
            return list
        }
        let staged = try #require(list.get().list.others(0).first)
        #expect(staged.hash == image.image.hash && staged.flags.contains(.pending))
        let third = try SimulatedDepot(try #require(file), memoryPath: path)
        let after = try onLink(third) { (client) async throws(RadioError) in
            try await client.survey()
        }
        let active = try #require(after.get().list.active(0))
        #expect(active.hash == image.image.hash && !active.flags.contains(.confirmed))
    }
}
