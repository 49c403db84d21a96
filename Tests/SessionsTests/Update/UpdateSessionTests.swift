import Base
import Moments
import Radio
import Testing

/// The states of one update: their order, their memory, and their deadlines.
@Suite struct UpdateSessionTests {
    private static let target = FirmwareVersion(4, 12)
    private static let old = FirmwareVersion(4, 11)
    private static let wall = WallTime(milliseconds: 1_700_000_000_000)

    private func session(
        bootloader: Bool = true,
        healthy: Bool = false,
        sizes: [Int] = [10_000],
        _ change: (inout UpdateMemory) -> Void = { _ in }
    ) throws -> UpdateSession {
        var memory = UpdateMemory()
        change(&memory)
        let rules = try #require(
            SettleRules(quiet: .seconds(4), wrongVersionGrace: .seconds(8), poll: .seconds(2))
        )
        return UpdateSession(
            UpdateGoal(
                image: ImageFirmware(
                    name: "city",
                    version: Self.target,
                    family: Family(rawValue: "comodule")
                ),
                sizes: sizes,
                usesBootloader: bootloader,
                hasHealthCheck: healthy
            ),
            limits: UpdateLimits(settle: rules),
            memory: memory,
            now: at(0),
            wallTime: Self.wall
        )
    }

    private func inspection(_ version: FirmwareVersion, confirmed: Bool = true) -> Inspection {
        Inspection(
            firmware: ModuleFirmware(
                family: Family(rawValue: "comodule"),
                type: 1,
                variant: 0,
                version: version
            ),
            isConfirmed: confirmed
        )
    }

    /// Makes looks until the settling is over, and returns the next action.
    private func settle(
        _ session: inout UpdateSession,
        _ first: UpdateSession.Action,
        on version: FirmwareVersion,
        confirmed: Bool? = nil,
        from start: Double
    ) -> UpdateSession.Action {
        var action = first
        var now = at(start)
        for _ in 0..<100 {
            switch action {
            case .seek(let from):
                now = max(now, from)
                action = session.sighted(.application, at: now)
            case .connect: action = session.linked(at: now)
            case .observe(let moment):
                now = max(now, moment)
                action = session.observed(
                    Observation(ongoing: false, version: version, isConfirmed: confirmed),
                    at: now
                )
            default: return action
            }
        }
        return action
    }

    @Test func `through a bootloader: probe, transfer, settle, done`() throws {
        var session = try session(sizes: [4_000, 6_000])
        #expect(session.begin(at: at(0)) == .seek(from: at(0)))
        #expect(session.sighted(.application, at: at(1)) == .connect)
        #expect(session.linked(at: at(2)) == .inspect)
        #expect(session.memory.stage == .none)
        #expect(session.inspected(inspection(Self.old), at: at(3)) == .prepare)
        // The journal has the stage before the module gets the request.
        #expect(session.memory.stage == .preparing)
        #expect(session.memory.inBootloader)
        #expect(session.prepared(at: at(4)) == .disconnect)
        #expect(session.disconnected(at: at(4)) == .seek(from: at(4)))
        #expect(session.sighted(.bootloader, at: at(5)) == .connect)
        #expect(session.linked(at: at(6)) == .probe)
        #expect(
            session.probed(.nothing(parts: 2), at: at(7)) == .transfer(part: 0, pace: 0)
        )
        session.progressed(to: 4_000, at: at(8))
        #expect(session.transferred(linkHolds: false, at: at(9)) == .disconnect)
        #expect(session.memory.part == 1)
        #expect(session.disconnected(at: at(9)) == .pause(until: at(10)))
        #expect(session.tick(at: at(10)) == .seek(from: at(10)))
        #expect(session.sighted(.bootloader, at: at(11)) == .connect)
        #expect(session.linked(at: at(11)) == .probe)
        // An installed part leaves no trace in the bootloader, so the memory gives the next part.
        #expect(
            session.probed(.nothing(parts: 2), at: at(12)) == .transfer(part: 1, pace: 0)
        )
        let action = session.transferred(linkHolds: false, at: at(20))
        #expect(action == .seek(from: at(20)))
        #expect(session.memory.stage == .settling)
        #expect(session.memory.settleDeadline != nil)
        #expect(!session.memory.inBootloader)
        #expect(
            settle(&session, action, on: Self.target, from: 20)
                == .ended(.settled(.confirmed(Self.target)))
        )
    }

    @Test(arguments: [
        (UpdateFault.Kind.linkLost, true), (.unanswered, true), (.plain, false),
    ])
    func `a module that may have gone into its bootloader is held to be there`(
        kind: UpdateFault.Kind,
        mayBeThere: Bool
    ) throws {
        var session = try session()
        _ = session.begin(linkedTo: .application, at: at(0))
        #expect(session.inspected(inspection(Self.old), at: at(1)) == .prepare)
        let fault = UpdateFault(.transient, kind, "no answer")
        #expect(session.failed(fault, at: at(12)) == .ended(.failed(fault)))
        #expect(session.memory.inBootloader == mayBeThere)
    }

    @Test(arguments: [true, false])
    func `a module that is away in the middle of a transfer is searched as often as promised`(
        bootloader: Bool
    ) throws {
        // An earlier attempt has begun the transfer, so the bootloader does not belong to another
        // program.
        var session = try session(bootloader: bootloader) { $0.stage = .transferring }
        _ = session.begin(at: at(0))
        _ = session.sighted(bootloader ? .bootloader : .application, at: at(0))
        _ = session.linked(at: at(1))
        if !bootloader {
            _ = session.inspected(inspection(Self.old), at: at(1))
            _ = session.prepared(at: at(1))
        }
        #expect(session.probed(.nothing(parts: 1), at: at(1)) == .transfer(part: 0, pace: 0))
        session.progressed(to: 2_000, at: at(2))
        let loss = UpdateFault(.transient, .linkLost, "gone")
        #expect(session.failed(loss, at: at(3)) == .disconnect)
        #expect(session.disconnected(at: at(3)) == .seek(from: at(3)))
        var searches = 0
        while let due = session.nextDeadline, searches < 10 {
            searches += 1
            if session.missed(at: due) != .seek(from: due) { break }
        }
        #expect(searches == 4)
        let length = bootloader ? "2m30s" : "2m"
        guard case .ended(.failed(let fault)) = session.state else {
            Issue.record("\(session.state)")
            return
        }
        #expect(fault.failure == .unreachable)
        #expect(fault.description.hasSuffix("not heard within \(length)"))
    }

    @Test(arguments: [true, false])
    func `an image on trial stays only when the module is well`(isWell: Bool) throws {
        var session = try session(bootloader: false, healthy: true)
        _ = session.begin(linkedTo: .application, at: at(0))
        #expect(session.inspected(inspection(Self.old), at: at(1)) == .prepare)
        #expect(session.prepared(at: at(2)) == .probe)
        let half = UpdateProbe(holdings: [.some(5_000)])
        #expect(session.probed(half, at: at(3)) == .transfer(part: 0, pace: 0))
        #expect(session.memory.acknowledged == 5_000)
        #expect(session.transferred(linkHolds: true, at: at(4)) == .activate)
        #expect(session.memory.settleDeadline != nil)
        let settling = session.activated(at: at(5))
        #expect(
            settle(&session, settling, on: Self.target, confirmed: false, from: 5) == .check
        )
        guard !isWell else {
            #expect(session.checked(.well, at: at(30)) == .confirm)
            #expect(session.memory.stage == .confirming)
            #expect(
                session.confirmed(at: at(31)) == .ended(.settled(.confirmed(Self.target)))
            )
            return
        }
        #expect(session.checked(.notYet("speed is 3"), at: at(30)) == .pause(until: at(32)))
        #expect(session.tick(at: at(32)) == .check)
        #expect(session.checked(.notYet("speed is 3"), at: at(1_000)) == .rollBack)
        let back = session.rolledBack(at: at(1_001))
        #expect(
            settle(&session, back, on: Self.old, confirmed: true, from: 1_001)
                == .ended(.unhealthy("speed is 3", runs: Self.old, revertible: true))
        )
    }

    @Test func `what is there already is not sent again`() throws {
        for (holding, action) in [
            (UpdateProbe.Holding.whole, UpdateSession.Action.activate), (.pending, .activate),
            (.running, .observe(at: at(3))),
        ] {
            var session = try session(bootloader: false)
            _ = session.begin(linkedTo: .application, at: at(0))
            _ = session.inspected(inspection(Self.old), at: at(1))
            _ = session.prepared(at: at(2))
            #expect(session.probed(UpdateProbe(holdings: [holding]), at: at(3)) == action)
        }
    }

    @Test(arguments: UpdateMemory.Stage.allCases)
    func `an update taken up at any stage with the old image goes the right way`(
        stage: UpdateMemory.Stage
    ) throws {
        var session = try session {
            $0.stage = stage
            $0.targetSeen = stage == .checking
        }
        _ = session.begin(linkedTo: .application, at: at(0))
        let action = session.inspected(inspection(Self.old), at: at(1))
        switch stage {
        case .none, .preparing, .transferring, .activating:
            #expect(action == .prepare)
        case .settling, .confirming:
            #expect(
                settle(&session, action, on: Self.old, from: 1)
                    == .ended(.settled(.wrongVersion(Self.old)))
            )
        case .checking:
            // The module has run the new image, as an earlier run has recorded.
            #expect(
                settle(&session, action, on: Self.old, from: 1)
                    == .ended(.settled(.rolledBack(to: Self.old)))
            )
        case .rollingBack:
            #expect(
                settle(&session, action, on: Self.old, from: 1)
                    == .ended(
                        .unhealthy(
                            "it did not meet its health conditions",
                            runs: Self.old,
                            revertible: true
                        )
                    )
            )
        }
    }

    @Test func `a deadline of an earlier run goes on`() throws {
        let deadline = Self.wall.advanced(by: .seconds(100))
        var session = try session {
            $0.stage = .settling
            $0.settleDeadline = deadline
        }
        _ = session.begin(linkedTo: .application, at: at(0))
        _ = session.inspected(inspection(Self.old), at: at(1))
        #expect(session.memory.settleDeadline == deadline)
        _ = session.failed(UpdateFault(.transient, .linkLost, "lost"), at: at(2))
        #expect(session.tick(at: at(101)) == .ended(.settled(.noReturn)))
    }

    @Test func `somebody else's bootloader is left alone until it goes back`() throws {
        var session = try session()
        _ = session.begin(at: at(0))
        _ = session.sighted(.bootloader, at: at(1))
        #expect(session.linked(at: at(2)) == .probe)
        let foreign = UpdateProbe(holdings: [.none], isForeign: true)
        #expect(session.probed(foreign, at: at(3)) == .disconnect)
        guard case .pause(let until) = session.disconnected(at: at(3)) else {
            Issue.record("no pause")
            return
        }
        #expect(at(3).duration(to: until) >= .seconds(120))
        #expect(session.tick(at: until) == .seek(from: until))
        #expect(session.sighted(.application, at: until) == .connect)
        #expect(session.linked(at: until) == .inspect)
    }

    @Test func `a transfer that brings nothing three times is given up`() throws {
        var session = try session { $0.stage = .transferring }
        _ = session.begin(at: at(0))
        var now = 1.0
        let lost = UpdateFault(.transient, .linkLost, "lost")
        for round in 1...4 {
            _ = session.sighted(.bootloader, at: at(now))
            _ = session.linked(at: at(now))
            _ = session.probed(.nothing(parts: 1), at: at(now))
            let action = session.failed(lost, at: at(now + 1))
            guard round < 4 else {
                guard case .ended(.failed(let fault)) = action else {
                    Issue.record("\(action)")
                    return
                }
                #expect(fault.failure == .transient)
                return
            }
            #expect(action == .disconnect, "round \(round)")
            _ = session.disconnected(at: at(now + 1))
            now += 2
        }
    }

    @Test func `a stalled transfer is broken off and goes on more slowly`() throws {
        var session = try session { $0.stage = .transferring }
        _ = session.begin(at: at(0))
        _ = session.sighted(.bootloader, at: at(1))
        _ = session.linked(at: at(1))
        _ = session.probed(.nothing(parts: 1), at: at(1))
        session.progressed(to: 100, at: at(30))
        #expect(session.nextDeadline == at(90))
        #expect(session.tick(at: at(89)) == .pause(until: at(90)))
        #expect(session.tick(at: at(90)) == .disconnect)
        _ = session.disconnected(at: at(90))
        _ = session.sighted(.bootloader, at: at(91))
        _ = session.linked(at: at(91))
        #expect(session.probed(.nothing(parts: 1), at: at(92)) == .transfer(part: 0, pace: 1))
    }

    @Test func `a part that is there already gives way to the next`() throws {
        var session = try session(sizes: [4_000, 6_000]) { $0.stage = .transferring }
        _ = session.begin(at: at(0))
        _ = session.sighted(.bootloader, at: at(1))
        _ = session.linked(at: at(1))
        _ = session.probed(.nothing(parts: 2), at: at(1))
        let there = UpdateFault(.rejected, .alreadyThere, "has a newer one")
        #expect(session.failed(there, at: at(2)) == .transfer(part: 1, pace: 0))
        #expect(session.failed(there, at: at(3)) == .ended(.failed(there)))
    }

    @Test func `every state has a deadline, and its name`() throws {
        var session = try session()
        var seen: [String] = []
        func look() {
            #expect(session.nextDeadline != nil, "\(session.state)")
            #expect(!session.deadlineLabel.isEmpty, "\(session.state)")
            seen.append(session.deadlineLabel)
        }
        _ = session.begin(at: at(0))
        look()
        _ = session.sighted(.application, at: at(1))
        look()
        _ = session.linked(at: at(2))
        look()
        _ = session.inspected(inspection(Self.old), at: at(3))
        look()
        _ = session.prepared(at: at(4))
        look()
        _ = session.disconnected(at: at(4))
        look()
        _ = session.sighted(.bootloader, at: at(5))
        _ = session.linked(at: at(6))
        look()
        _ = session.probed(.nothing(parts: 1), at: at(7))
        look()
        _ = session.transferred(linkHolds: false, at: at(20))
        look()
        #expect(
            seen == [
                "search", "connect", "inspect", "start of its bootloader", "next link",
                "bootloader to appear", "probe", "next byte", "settle",
            ]
        )
    }

    @Test func `an event that has no place in a state changes nothing`() throws {
        var session = try session()
        _ = session.begin(at: at(0))
        let state = session.state
        _ = session.prepared(at: at(1))
        _ = session.probed(.nothing(parts: 1), at: at(1))
        _ = session.transferred(linkHolds: true, at: at(1))
        _ = session.activated(at: at(1))
        _ = session.checked(.well, at: at(1))
        _ = session.confirmed(at: at(1))
        _ = session.rolledBack(at: at(1))
        #expect(session.state == state)
        #expect(session.stopRequested() == .ended(.stopped))
        #expect(session.stopRequested() == .ended(.stopped))
        #expect(session.nextDeadline == nil)
    }
}
