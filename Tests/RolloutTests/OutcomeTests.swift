import Base
import Families
import Manifest
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

@Suite struct OutcomeTests {
    private let image = DepotBench.image(bytes: 20_000)
    private var update: [JobStep] { [.update(image)] }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a healthy module is updated and proven`(seed: UInt64) throws {
        let bench = DepotBench(seed: seed, [DepotBench.module(1)])
        let report = try bench.run(update)
        #expect(report.result.counts == [.succeeded: 1])
        #expect(report.versions == [FirmwareVersion(4, 12)])
        #expect(report.record(1)?.inBootloader == false)
        #expect(report.record(1)?.versionBefore == FirmwareVersion(4, 11, 3))
        #expect(report.record(1)?.versionAfter == FirmwareVersion(4, 12))
    }

    @Test func `a second run finds all current and sends nothing`() throws {
        let bench = DepotBench(seed: 1, [DepotBench.module(1), DepotBench.module(2)])
        let report = try bench.run(update, times: 2)
        #expect(report.result.counts == [.alreadyCurrent: 2])
        #expect(bench.events.filter { $0.isProgress }.allSatisfy { $0.number < 1_000 })
    }

    @Test(
        arguments: [
            [.linkLost(at: 6_000)], [.silent(at: 9_000)], [.restart(at: 13_000)],
            [.linkLost(at: 100), .restart(at: 8_192), .linkLost(at: 19_999)],
            [.connectFails], [.refuseBootloader], [.addressChanges], [.restartAfterReturn],
            [.flap(total: .seconds(50), period: .seconds(7))],
        ] as [[ModulePlan.Fault.Kind]]
    )
    func `a passing fault costs time and nothing else`(faults: [ModulePlan.Fault.Kind]) throws {
        let module = DepotBench.module(1) { $0.faults = faults.map { .init($0) } }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run(update)
        #expect(report.result.counts == [.succeeded: 1], "\(bench.events.last as Any)")
        #expect(report.versions == [FirmwareVersion(4, 12)])
    }

    @Test func `patience with the host is given back after a good stretch`() throws {
        let bench = DepotBench(seed: 5, [DepotBench.module(1)])
        let (time, air) = (bench.simulation.time, bench.simulation.air)
        let report = try bench.run(
            [.read(["state_of_charge"]), .wait(.seconds(300)), .read(["state_of_charge"])]
        ) { _ in
            // Two absences, each shorter than the patience.
            for (second, isOn) in [(0, false), (100, true), (350, false), (450, true)] {
                time.schedule(at: time.now.advanced(by: .seconds(second))) {
                    air.atOnce { $0.setPower("hci0", on: isOn) }
                }
            }
        }
        #expect(report.result.counts == [.succeeded: 1], "\(report.record(1)?.end as Any)")
    }

    @Test func `a restart that loses the progress starts over and succeeds`() throws {
        let module = DepotBench.module(1) {
            $0.keepsProgress = false
            $0.faults = [.init(.restart(at: 13_000))]
        }
        let report = try DepotBench(seed: 5, [module]).run(update)
        #expect(report.result.counts == [.succeeded: 1])
    }

    @Test func `a module that never returns is failed for no return`() throws {
        let module = DepotBench.module(1) { $0.faults = [.init(.neverReturn)] }
        let report = try DepotBench(seed: 5, [module]).run(update)
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .noReturn)
    }

    @Test func `a module that comes back unchanged has the wrong version`() throws {
        let module = DepotBench.module(1) { $0.faults = [.init(.returnUnchanged)] }
        let report = try DepotBench(seed: 5, [module]).run(update)
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .wrongVersion)
    }

    @Test func `a refused init packet fails for integrity and leaves the module in its bootloader`()
        throws
    {
        let module = DepotBench.module(1) { $0.faults = [.init(.refuseInit)] }
        let report = try DepotBench(seed: 5, [module]).run(update)
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .integrity)
        #expect(report.record(1)?.inBootloader == report.inBootloader[0])
    }

    @Test func `a module out of reach is unreachable and does not stop the others`() throws {
        let bench = DepotBench(
            seed: 5,
            [DepotBench.module(1) { $0.signal = nil }, DepotBench.module(2)]
        )
        let report = try bench.run(update)
        #expect(report.result.counts == [.unreachable: 1, .succeeded: 1])
    }

    @Test func `a low battery defers with what was measured and required`() throws {
        let module = DepotBench.module(1) { $0.stateOfCharge = 12 }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run(
            [
                .require(
                    [.property(try DepotBench.profile.test("state_of_charge", .atLeast, "40"))],
                    otherwise: .defer
                )
            ] + update
        )
        #expect(report.result.counts == [.deferred: 1])
        #expect(
            report.record(1)?.end?.message == "state_of_charge is 12, required is >= 40"
        )
        #expect(report.versions == [FirmwareVersion(4, 11, 3)])
    }

    @Test func `a wrong secret is rejected after a second try and never guessed`() throws {
        let module = DepotBench.module(1) { $0.key = [UInt8](repeating: 0x22, count: 20) }
        let report = try DepotBench(seed: 5, [module]).run(update)
        #expect(report.result.counts == [.rejected: 1])
        #expect(report.record(1)?.attempt == 2)
    }

    @Test func `other hardware and newer firmware are rejected untouched`() throws {
        let bench = DepotBench(
            seed: 5,
            [
                DepotBench.module(1) { $0.firmwareType = 18 },
                DepotBench.module(2) { $0.firmwareVariant = 1 },
                DepotBench.module(3) { $0.version = FirmwareVersion(5, 0) },
            ]
        )
        let report = try bench.run(update)
        #expect(report.result.counts == [.rejected: 3])
        #expect(report.versions[2] == FirmwareVersion(5, 0))
        #expect(report.inBootloader == [false, false, false])
    }

    @Test(arguments: 1...8) func `a run that is stopped goes on where the module stands`(
        stopAt: Int
    ) throws {
        let bench = DepotBench(seed: 7, [DepotBench.module(1), DepotBench.module(2)])
        let report = try bench.run(update, times: 2) { [bench] run in
            if run == 1 {
                bench.simulation.time.schedule(
                    at: bench.simulation.time.now.advanced(by: .milliseconds(900 * stopAt))
                ) { bench.stop.request() }
            } else {
                bench.stop.reset()
            }
        }
        #expect(report.result.unfinished == 0)
        #expect(report.versions == [FirmwareVersion(4, 12), FirmwareVersion(4, 12)])
    }

    @Test func `one seed gives the same events byte by byte, another one other events`() throws {
        func log(_ seed: UInt64) throws -> String {
            let modules = (1...6).map { number in
                DepotBench.module(number) {
                    $0.link.loss = 0.02
                    if number == 2 { $0.faults = [.init(.linkLost(at: 5_000))] }
                }
            }
            let bench = DepotBench(seed: seed, modules)
            _ = try bench.run(update)
            return bench.events.map { "\($0)" }.joined(separator: "\n")
        }
        let first = try log(11)
        #expect(try log(11) == first)
        #expect(try log(12) != first)
    }
}

extension Event {
    fileprivate var isProgress: Bool {
        if case .progress = body { return true }
        return false
    }
}
