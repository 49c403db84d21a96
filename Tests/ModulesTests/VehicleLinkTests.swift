import Base
import Families
import Radio
import Simulation
import Testing

/// The owner of a link: it keeps the link, makes it again, and stops after refused secrets.
@Suite struct VehicleLinkTests {
    private static func driver() throws -> ComoduleUpdate {
        ComoduleUpdate(key: try ComoduleKey(ModuleBench.secret))
    }

    private static func link(_ bench: ModuleBench) -> VehicleLink {
        VehicleLink(to: ModuleBench.serial(1), bench.central, bench.time)
    }

    private static func present(
        _ link: VehicleLink,
        _ driver: ComoduleUpdate,
        within limit: Duration = .seconds(30)
    ) async throws(ModuleError) -> any ModuleApplication {
        try await link.present(
            driver,
            before: link.time.now.advanced(by: limit),
            unless: { false }
        )
    }

    /// An adapter of the bench under a name of its own, which records what it is asked to forget.
    private final class NamedCentral: Central {
        let adapter: String
        private let central: any Central
        private let forgotten: Monitor<[String]>

        init(_ adapter: String, _ central: any Central, _ forgotten: Monitor<[String]>) {
            (self.adapter, self.central, self.forgotten) = (adapter, central, forgotten)
        }

        func withScan<R: Sendable>(
            _ filter: ScanFilter,
            _ body: (any Scan) async throws(RadioError) -> R
        ) async throws(RadioError) -> R { try await central.withScan(filter, body) }

        func connect(
            to peer: Peer,
            _ policy: BondPolicy,
            before deadline: Moment
        ) async throws(RadioError) -> any Radio.Link {
            try await central.connect(to: peer, policy, before: deadline)
        }

        func forget(_ peer: Peer) async { forgotten.withLock { $0.append(adapter) } }
    }

    @Test func `a module is forgotten by the adapter that met it`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let forgotten = Monitor<[String]>([])
            let adapters = ["hci0", "hci1"].map { NamedCentral($0, bench.central, forgotten) }
            let turn = Monitor(0)
            let link = VehicleLink(
                to: ModuleBench.serial(1),
                adapters[turn.withLock { $0 }],
                bench.time
            )
            _ = try await Self.present(link, try Self.driver())
            turn.withLock { $0 = 1 }
            await link.leave()
            #expect(forgotten.withLock { $0 } == ["hci0"])
        }
    }

    @Test func `what is open is kept, and what was closed is made again`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let driver = try Self.driver()
            let link = Self.link(bench)
            #expect(!link.isOpen && link.radio == nil)
            let first = try await Self.present(link, driver)
            let kept = try await Self.present(link, driver)
            #expect(ObjectIdentifier(kept) == ObjectIdentifier(first))
            #expect(link.isOpen && link.radio != nil && link.receiver == nil)
            await link.close()
            #expect(!link.isOpen && link.radio == nil)
            let made = try await Self.present(link, driver)
            #expect(ObjectIdentifier(made) != ObjectIdentifier(first))
            await link.close()
            await link.forget()
        }
    }

    @Test func `a link that is lost is forgotten and made again`() throws {
        try ModuleBench([ModuleBench.faulty(.init(.linkLostIn(.register)))]).run { bench in
            let driver = try Self.driver()
            let link = Self.link(bench)
            let first = try await Self.present(link, driver)
            let order = UpdateOrder(serial: ModuleBench.serial(1), parts: [])
            do {
                _ = try await first.inspect(order)
                Issue.record("the link holds")
            } catch { #expect((error as? ModuleError)?.isLinkLoss == true) }
            link.forgetLink()
            #expect(!link.isOpen)
            let second = try await Self.present(link, driver)
            let found = try await second.inspect(order)
            #expect(found.firmware.version == FirmwareVersion(4, 11, 3))
            await link.close()
        }
    }

    @Test func `who refuses our secret twice is not looked for any more`() throws {
        let other = ModuleBench.module { $0.key = [UInt8](repeating: 0x22, count: 20) }
        try ModuleBench([other]).run { bench in
            let driver = try Self.driver()
            let link = Self.link(bench)
            for judgement in [SecretSuspicion.Judgement.tryAgain, .wrongKey] {
                do {
                    _ = try await Self.present(link, driver)
                    Issue.record("a module with another key was opened")
                } catch {
                    let found = try #require(error as? ModuleError)
                    #expect(found.isAboutAuthentication)
                    #expect(link.suspects(found) == judgement)
                    #expect(!link.isOpen)
                }
            }
            do {
                _ = try await Self.present(link, driver)
                Issue.record("an impostor was opened")
            } catch { #expect(error as? ModuleError == .radio(.timedOut)) }
            link.trustAgain()
            let found = try await link.seek(
                driver.recogniser,
                before: bench.time.now.advanced(by: .seconds(30)),
                unless: { false }
            )
            #expect(found?.role == .application)
        }
    }

    @Test(arguments: [(nil, false), ("20s", true), ("12s", false)])
    func `a module may take as long for an answer as its profile says`(
        limit: String?,
        isOpened: Bool
    ) throws {
        let shipped = try #require(
            FamilyRegistry.profiles.first { $0.name == "comodule-generic.yaml" }
        )
        let more = limit.map { "\nlimits: {answer: \($0)}\n" } ?? ""
        let diagnostics = Diagnostics()
        let profile = try #require(
            Profile.parse(shipped.bytes + Array(more.utf8), file: "p.yaml", diagnostics),
            "\(diagnostics.list)"
        )
        try ModuleBench([ModuleBench.faulty(.init(.slow(.seconds(15))))]).run { bench in
            let driver = ComoduleUpdate(
                key: try ComoduleKey(ModuleBench.secret),
                profile: profile
            )
            let link = Self.link(bench)
            if isOpened {
                _ = try await Self.present(link, driver)
                await link.close()
            } else {
                do {
                    _ = try await Self.present(link, driver)
                    Issue.record("a module that answers too late was opened")
                } catch { #expect(error is ModuleError) }
            }
        }
    }
}
