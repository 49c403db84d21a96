import Base
import Families
import Manifest
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Preconditions on the module, on its signal, and on labels of the fleet list.
@Suite struct PreconditionTests {
    private let image = DepotBench.image(bytes: 20_000)
    private var update: JobStep { .update(image) }

    private func property(
        _ name: String,
        _ comparison: Condition.Operator,
        _ value: String
    ) throws -> Precondition {
        let comparison = try #require(Comparison(rawValue: comparison.rawValue))
        return .property(try DepotBench.profile.test(name, comparison, value))
    }

    private func condition(_ comparison: Condition.Operator, _ value: String) throws -> Condition {
        try #require(Condition(comparison, Literal(value)))
    }

    private func signal(atLeast value: String) throws -> Precondition {
        .signal(try condition(.atLeast, value))
    }

    private func verdict(_ bench: DepotBench, _ number: Int = 1) throws -> Verdict {
        let verdicts = bench.events.compactMap { event -> Verdict? in
            guard case .vehicleEnded(let id, let verdict) = event.body,
                id.text == "v\(number)"
            else { return nil }
            return verdict
        }
        return try #require(verdicts.last)
    }

    @Test(
        arguments: [
            (.defer, .deferred), (.skip, .skipped), (.fail, .failed), (.warn, .succeeded),
        ] as [(Otherwise, Outcome)]
    ) func `a property that is not as required ends the vehicle as its step says`(
        otherwise: Otherwise,
        outcome: Outcome
    ) throws {
        let module = DepotBench.module(1) {
            $0.stateOfCharge = 12
            $0.speedTenths = 3
        }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run([
            .require([try property("state_of_charge", .atLeast, "40")], otherwise: otherwise),
            update,
        ])
        #expect(report.result.counts == [outcome: 1])
        let verdict = try verdict(bench)
        #expect(
            verdict.problems
                == [Problem(check: "state_of_charge", measured: "12", required: ">= 40")]
        )
        if otherwise != .warn {
            #expect(verdict.message == "state_of_charge is 12, required is >= 40")
            #expect(report.versions == [FirmwareVersion(4, 11, 3)])
        }
    }

    @Test func `a vehicle that moves is put off`() throws {
        let module = DepotBench.module(1) { $0.speedTenths = 31 }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run([
            .require([try property("speed", .equal, "0")], otherwise: .defer), update,
        ])
        #expect(report.result.counts == [.deferred: 1])
        #expect(try verdict(bench).message == "speed is 3.1, required is == 0")
    }

    @Test func `a weak signal puts a vehicle off before a link is made`() throws {
        let bench = DepotBench(
            seed: 5,
            [DepotBench.module(1) { $0.signal = -91 }, DepotBench.module(2) { $0.signal = -60 }]
        )
        let report = try bench.run([
            .require([try signal(atLeast: "-82")], otherwise: .defer), update,
        ])
        #expect(report.result.counts == [.deferred: 1, .succeeded: 1])
        let verdict = try verdict(bench)
        #expect(verdict.message == "signal is -91 dBm, required is >= -82 dBm")
        #expect(
            verdict.problems
                == [Problem(check: "signal", measured: "-91 dBm", required: ">= -82 dBm")]
        )
        let connected = bench.events.contains { event in
            if case .stateChanged(let id, .connecting, _, _) = event.body { return id.text == "v1" }
            return false
        }
        #expect(!connected)
    }

    @Test(
        arguments: [
            (.notEqual, "yes", "yes", .skipped), (.notEqual, "yes", nil, .succeeded),
            (.equal, "tallinn", nil, .skipped), (.equal, "tallinn", "tartu", .skipped),
            (.equal, "tallinn", "tallinn", .succeeded), (.atLeast, "3", "2", .skipped),
            (.atLeast, "3", "3", .succeeded),
        ] as [(Condition.Operator, String, String?, Outcome)]
    ) func `a label decides before the module is so much as listened for`(
        comparison: Condition.Operator,
        required: String,
        value: String?,
        outcome: Outcome
    ) throws {
        // A vehicle that is ruled out is away as well, which shows that the run does not wait for
        // it.
        let module = DepotBench.module(1) { if outcome == .skipped { $0.signal = nil } }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run([
            .require(
                [.label("group", value: value, try condition(comparison, required))],
                otherwise: .skip
            ),
            update,
        ])
        #expect(report.result.counts == [outcome: 1])
        guard outcome == .skipped else { return }
        let verdict = try verdict(bench)
        #expect(
            verdict.message
                == "label.group is \(value ?? "not given"), required is "
                + "\(comparison.rawValue) \(required)"
        )
        #expect(verdict.attempts == 0)
        #expect(verdict.problems.count == 1)
    }

    @Test func `a label after other steps is looked at in its turn`() throws {
        let bench = DepotBench(seed: 5, [DepotBench.module(1)])
        let report = try bench.run([
            .read(["odometer"]),
            .require(
                [.label("hold", value: "yes", try condition(.equal, "no"))],
                otherwise: .defer
            ),
            update,
        ])
        #expect(report.result.counts == [.deferred: 1])
        #expect(report.record(1)?.attempt == 1)
    }

    /// A bench whose module changes after this many seconds.
    private func bench(
        after seconds: Int,
        _ change: @escaping @Sendable (ComoduleModule) -> Void
    ) -> DepotBench {
        let bench = DepotBench(seed: 5, [DepotBench.module(1)])
        let (time, air) = (bench.simulation.time, bench.simulation.air)
        time.schedule(at: time.now.advanced(by: .seconds(seconds))) {
            air.atOnce { $0.world.modules(ComoduleModule.self).forEach(change) }
        }
        return bench
    }

    @Test func `what was required is looked at again before there is no way back`() throws {
        let bench = bench(after: 60) { $0.stateOfCharge = 31 }
        let report = try bench.run([
            .require([try property("state_of_charge", .atLeast, "40")], otherwise: .defer),
            .wait(.seconds(120)), update,
        ])
        #expect(report.result.counts == [.deferred: 1])
        #expect(
            report.record(1)?.end?.message
                == "state_of_charge is 31, required is >= 40, when it was looked at again before "
                + "the module restarts"
        )
        #expect(report.versions == [FirmwareVersion(4, 11, 3)])
        #expect(report.inBootloader == [false])
        #expect(report.record(1)?.inBootloader == false)
        #expect(report.record(1)?.image == nil, "nothing was begun")
    }

    @Test func `a vehicle that drives off in the meantime is not sent into its bootloader`() throws
    {
        let bench = bench(after: 60) { $0.speedTenths = 120 }
        let report = try bench.run([
            .require([try property("speed", .equal, "0")], otherwise: .skip),
            .wait(.seconds(120)), update,
        ])
        #expect(report.result.counts == [.skipped: 1])
        #expect(report.inBootloader == [false])
    }

    @Test func `a signal that has become weak is heard again before the module restarts`() throws {
        let bench = bench(after: 60) { $0.signal = -95 }
        let report = try bench.run([
            .require([try signal(atLeast: "-82")], otherwise: .defer), .wait(.seconds(120)), update,
        ])
        #expect(report.result.counts == [.deferred: 1])
        #expect(try verdict(bench).message.hasPrefix("signal is -95 dBm, required is >= -82 dBm"))
        #expect(report.inBootloader == [false])
    }

    @Test func `what only warns does not stand in the way the second time either`() throws {
        let bench = bench(after: 60) { $0.stateOfCharge = 31 }
        let report = try bench.run([
            .require([try property("state_of_charge", .atLeast, "40")], otherwise: .warn),
            .wait(.seconds(120)), update,
        ])
        #expect(report.result.counts == [.succeeded: 1])
    }
}
