import Base
import Families
import Simulation
import Store
import Testing

/// One interruption in each run, at every possible place: the result is always right.
@Suite struct InterruptionTests {
    /// The bytes that may be sent twice: one object, and the init packet for each link.
    private static let again = 4_096 + 2 * 200

    @Test(arguments: LinkBreak.allCases, [true, false])
    func `whatever the module does at any exchange, it ends with the new version`(
        kind: LinkBreak,
        isBefore: Bool
    ) throws {
        let whole = try InterruptionBench.dfu.run()
        #expect(whole.outcomes == [.succeeded])
        #expect(whole.exchanges > 80)
        for number in 1...whole.exchanges {
            var bench = InterruptionBench.dfu
            bench.comodule.faults = [
                .init(.breaks(kind, atExchange: number, isBefore: isBefore))
            ]
            let report = try bench.run()
            check(report, "\(kind) \(isBefore ? "before" : "after") exchange \(number)")
        }
    }

    /// When both have one address, BlueZ shows old data of the application for the bootloader.
    @Test func `the host forgets the module after each link, and when it is done`() throws {
        let report = try InterruptionBench.dfu.run()
        #expect(report.outcomes == [.succeeded])
        // After the links to the application, to its bootloader, and to the new application.
        #expect(report.forgotten == 3)
    }

    @Test(arguments: FaultyCentral.Fate.allCases)
    func `whatever happens to the host at any use of the radio, the update ends well`(
        fate: FaultyCentral.Fate
    ) throws {
        let whole = try InterruptionBench.dfu.run()
        for number in 1...whole.uses {
            var bench = InterruptionBench.dfu
            bench.fate = (fate, number)
            check(try bench.run(), "\(fate) at use \(number)")
        }
    }

    /// A bootloader without a name is found again by its place, which the journal keeps.
    @Test(arguments: [true, false])
    func `a bootloader without a name is finished by the next run, and no other one`(
        isBonded: Bool
    ) throws {
        var bench = InterruptionBench.dfu
        bench.comodule.isBonded = isBonded
        bench.comodule.isNameless = true
        bench.neighbours = (2...4).map { number in
            DepotBench.module(number) {
                $0.isBonded = number == 2
                $0.isNameless = true
            }
        }
        let whole = try bench.run()
        var inBetween = 0
        for number in 1...whole.uses {
            bench.fate = (.killed, number)
            let report = try bench.run()
            check(report, "killed at use \(number)")
            #expect(report.strayBytes == 0, "killed at use \(number)")
            guard report.stoodInBootloader else { continue }
            inBetween += 1
            #expect(report.wasInBootloader, "killed at use \(number)")
        }
        #expect(inBetween > 50)
    }

    /// Most bootloaders keep nothing over a restart: then everything is sent again, and arrives.
    @Test func `a restart that costs the progress ends well wherever it happens`() throws {
        var bench = InterruptionBench.dfu
        bench.comodule.keepsProgress = false
        let whole = try bench.run()
        for number in 1...whole.exchanges {
            bench.comodule.faults = [.init(.breaks(.restart, atExchange: number, isBefore: true))]
            let report = try bench.run()
            report.isRight(FirmwareVersion(4, 12), "restart at exchange \(number)")
            #expect(report.imageBytes <= 2 * whole.imageBytes + Self.again)
        }
    }

    private func check(_ report: InterruptionBench.Report, _ what: String) {
        report.isRight(FirmwareVersion(4, 12), what)
        #expect(
            report.imageBytes <= 9_000 + Self.again,
            "\(what): \(report.imageBytes) bytes for 9000"
        )
    }
}

/// Interruptions over SMP, with several kinds of modules.
@Suite struct SMPInterruptionTests {
    /// The properties of a module that matter for an interruption.
    enum Make: String, CaseIterable, Sendable {
        /// Version 2 of the protocol; the module keeps received bytes until it restarts.
        case current = "version 2"
        case old = "version 1"
        /// The module keeps received bytes over a restart.
        case recalling = "recalls uploads forever"
        /// Each link begins the upload from the start.
        case forgetful = "recalls no upload"
        /// The slot is erased before the first answer, which takes longer than the link lasts.
        case stalling = "erases first"

        func bench() throws -> InterruptionBench {
            try .smp { plan in
                switch self {
                case .current: break
                case .old: plan.rules.isVersion1 = true
                case .recalling: plan.rules.recall = .always
                case .forgetful: plan.rules.recall = .untilDisconnect
                case .stalling:
                    plan.rules.erasesAsItGoes = false
                    plan.eraseTime = .seconds(2)
                }
            }
        }

        /// Whether the module still has the received bytes after this break.
        func recalls(after kind: LinkBreak) -> Bool {
            switch self {
            case .recalling: true
            case .forgetful: false
            case .current, .old, .stalling: kind != .restart
            }
        }
    }

    /// The bytes that may be in flight: all of the module's four buffers but one.
    private static let window = 3 * 256 - 30

    /// Silence is only a lost link that takes longer when the kind of break does not affect the
    /// module's memory.
    private static let breaks = Make.allCases.flatMap { make in
        LinkBreak.allCases.compactMap { kind in
            let isTold = kind != .silence || (make != .recalling && make != .forgetful)
            return isTold ? (make, kind) : nil
        }
    }

    @Test(arguments: breaks)
    func `whatever the module does at any write, it ends with the new version`(
        make: Make,
        kind: LinkBreak
    ) throws {
        let whole = try make.bench().run()
        #expect(whole.outcomes == [.succeeded], "\(whole.message)")
        #expect(whole.exchanges > 25)
        var onTrial: [Int] = []
        for number in 1...whole.exchanges {
            for isTaken in [false, true] {
                var bench = try make.bench()
                bench.mcumgr.faults = [.init(.breaks(kind, atExchange: number, isBefore: !isTaken))]
                let what = "\(kind) at write \(number), \(isTaken ? "taken" : "lost")"
                let report = try bench.run()
                if report.outcomes == [.rolledBack], kind == .restart {
                    // During the trial, a restart makes the module return to its old image: this
                    // must be reported.
                    onTrial.append(number)
                    report.isAtRest(with: FirmwareVersion(1, 0), what)
                    #expect(report.record?.end?.failure == .rolledBack)
                } else {
                    check(report, whole, make.recalls(after: kind), what)
                }
            }
        }
        // The trial lasts from the restart into the image to its confirmation, which is near the
        // end, without gaps.
        let trial = Set(onTrial).sorted()
        #expect(trial.isEmpty == (kind != .restart))
        #expect(zip(trial, trial.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(trial)")
        #expect(trial.count < 15, "\(trial)")
    }

    @Test(arguments: [Make.current, .old, .stalling], FaultyCentral.Fate.allCases)
    func `whatever happens to the host at any use of the radio, the update ends well`(
        make: Make,
        fate: FaultyCentral.Fate
    ) throws {
        let whole = try make.bench().run()
        for number in 1...whole.uses {
            var bench = try make.bench()
            bench.fate = (fate, number)
            check(try bench.run(), whole, true, "\(fate) at use \(number)")
        }
    }

    private func check(
        _ report: InterruptionBench.Report,
        _ whole: InterruptionBench.Report,
        _ recalls: Bool,
        _ what: String
    ) {
        report.isRight(FirmwareVersion(2, 0), what)
        let again = recalls ? Self.window : whole.imageBytes
        #expect(
            report.imageBytes <= whole.imageBytes + again,
            "\(what): \(report.imageBytes) bytes instead of \(whole.imageBytes)"
        )
    }
}

extension InterruptionBench.Report {
    /// The module runs the image permanently, and the journal records exactly that.
    fileprivate func isRight(_ wanted: FirmwareVersion, _ what: String) {
        let isProven = outcomes == [.succeeded] || outcomes == [.alreadyCurrent]
        #expect(isProven, "\(what): \(outcomes), \(message)")
        isAtRest(with: wanted, what)
    }

    /// The module runs its image permanently, and nothing is left open.
    fileprivate func isAtRest(with wanted: FirmwareVersion, _ what: String) {
        #expect(version == wanted, "\(what)")
        #expect(isConfirmed, "\(what): it is on trial")
        #expect(!isInBootloader, "\(what)")
        #expect(record?.inBootloader == false, "\(what)")
        #expect(openIntents == 0, "\(what): an intent is left in doubt")
    }
}
