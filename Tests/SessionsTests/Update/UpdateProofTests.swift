import Base
import Moments
import Radio
import Testing

/// After the transfer: the module comes to rest, is healthy, keeps the image or goes back.
@Suite struct UpdateProofTests {
    /// Makes looks until the settling is over, and returns the next turn.
    private func look(
        _ machine: inout UpdateProof,
        _ first: UpdateTurn?,
        _ course: inout UpdateCourse,
        version: FirmwareVersion,
        confirmed: Bool? = nil,
        remains: Observation.Remains? = nil,
        from start: Double
    ) -> UpdateTurn? {
        var turn = first
        var now = at(start)
        for _ in 0..<100 {
            switch turn {
            case .act(.seek(let from)):
                now = max(now, from)
                turn = machine.sighted(.application, &course, at: now)
            case .act(.connect):
                turn = machine.linked(&course, at: now)
            case .act(.observe(let moment)):
                now = max(now, moment)
                let seen = Observation(
                    ongoing: false,
                    version: version,
                    isConfirmed: confirmed,
                    remains: remains
                )
                turn = machine.observed(seen, &course, at: now)
            default: return turn
            }
        }
        return turn
    }

    private func settled(
        _ course: inout UpdateCourse,
        _ aim: UpdateProof.Aim = .image,
        version: FirmwareVersion = SampleCourse.target,
        confirmed: Bool? = nil
    ) -> (UpdateProof, UpdateTurn?) {
        var (machine, turn) = UpdateProof.settle(aim, isLinked: false, &course, at: at(0))
        let next = look(
            &machine,
            turn,
            &course,
            version: version,
            confirmed: confirmed,
            from: 0
        )
        return (machine, next)
    }

    @Test func `at rest with the image, without a trial, it is over`() throws {
        var course = try SampleCourse.course { $0.stage = .transferring }
        let (_, turn) = settled(&course)
        #expect(turn == .end(.settled(.confirmed(SampleCourse.target))))
        #expect(course.memory.stage == .settling)
    }

    @Test func `on trial it is asked to keep the image, and says that it does`() throws {
        var course = try SampleCourse.course(bootloader: false) { $0.stage = .activating }
        var (machine, turn) = settled(&course, confirmed: false)
        #expect(turn == .act(.confirm))
        #expect(course.memory.stage == .confirming)
        #expect(
            machine.confirmed(&course) == .end(.settled(.confirmed(SampleCourse.target)))
        )
    }

    @Test func `the time to be well goes on when the link breaks`() throws {
        var course = try SampleCourse.course(healthy: true) { $0.stage = .activating }
        var (machine, turn) = settled(&course, confirmed: false)
        #expect(turn == .act(.check))
        let deadline = try #require(machine.nextDeadline)
        let due = deadline.advanced(by: .seconds(-100))
        let next = machine.failed(SampleCourse.lost, &course, at: due)
        guard case .act(.seek) = next else {
            Issue.record("\(String(describing: next))")
            return
        }
        let seconds = Double(due.nanoseconds) / 1e9
        let again = look(
            &machine,
            next,
            &course,
            version: SampleCourse.target,
            confirmed: false,
            from: seconds
        )
        #expect(again == .act(.check))
        #expect(machine.nextDeadline == deadline)
    }

    @Test func `unwell on trial it goes back, and keeps why`() throws {
        var course = try SampleCourse.course(bootloader: false, healthy: true) {
            $0.stage = .activating
        }
        var (machine, turn) = settled(&course, confirmed: false)
        #expect(turn == .act(.check))
        #expect(
            machine.checked(.notYet("speed is 3"), &course, at: at(30))
                == .act(.pause(until: at(32)))
        )
        #expect(machine.tick(&course, at: at(32)) == .act(.check))
        #expect(
            machine.checked(.failure("the program said no"), &course, at: at(33))
                == .act(.rollBack)
        )
        // The link breaks during the request, which the module may have received.
        let lost = machine.failed(SampleCourse.lost, &course, at: at(34))
        let end = look(
            &machine,
            lost,
            &course,
            version: SampleCourse.old,
            confirmed: true,
            from: 34
        )
        #expect(
            end == .end(.unhealthy("speed is 3", runs: SampleCourse.old, revertible: true))
        )
    }

    @Test func `an order to go back that is refused is given again, with its reason`() throws {
        var course = try SampleCourse.course(bootloader: false, healthy: true) {
            $0.stage = .activating
        }
        var (machine, _) = settled(&course, confirmed: false)
        #expect(
            machine.checked(.failure("speed is 3"), &course, at: at(30)) == .act(.rollBack)
        )
        #expect(
            machine.failed(SampleCourse.refused, &course, at: at(31))
                == .leave(for: .rollBack(because: "speed is 3"), pause: .seconds(1))
        )
    }

    @Test func `without a trial an unwell module keeps what it runs`() throws {
        var course = try SampleCourse.course(healthy: true) { $0.stage = .transferring }
        var (machine, turn) = settled(&course)
        #expect(turn == .act(.check))
        #expect(
            machine.checked(.failure("speed is 3"), &course, at: at(30))
                == .end(
                    .unhealthy("speed is 3", runs: SampleCourse.target, revertible: false)
                )
        )
    }

    @Test func `nobody knows whether it heard that it should run the image: it is asked`() throws {
        var course = try SampleCourse.course(bootloader: false) { $0.stage = .activating }
        var (machine, turn) = UpdateProof.settle(
            .activation,
            isLinked: false,
            &course,
            at: at(0)
        )
        #expect(turn == .act(.seek(from: at(0))))
        #expect(course.memory.stage == .activating)
        #expect(machine.sighted(.application, &course, at: at(5)) == .act(.connect))
        #expect(machine.linked(&course, at: at(6)) == .probe(.activationInDoubt))
    }

    @Test func `what was taken up in the middle and refused is sent as a whole, once`() throws {
        var course = try SampleCourse.course(bootloader: false)
        for (resumed, turn) in [
            (500, UpdateTurn.probe(.toSend)),
            (500, .end(.settled(.refused(runs: SampleCourse.old)))),
        ] {
            var transfer = UpdateTransfer(probing: .toSend, course, at: at(0))
            _ = transfer.probed(UpdateProbe(holdings: [.none]), &course, at: at(0))
            transfer.progressed(to: 600, resumedFrom: resumed, &course, at: at(1))
            var (machine, first) = UpdateProof.settle(
                .image,
                isLinked: false,
                &course,
                at: at(2)
            )
            let end = look(
                &machine,
                first,
                &course,
                version: SampleCourse.old,
                remains: .nothing,
                from: 2
            )
            #expect(end == turn)
        }
    }

    @Test func `a bootloader that stays gets the image again`() throws {
        var course = try SampleCourse.course { $0.stage = .transferring }
        var (machine, turn) = UpdateProof.settle(.image, isLinked: false, &course, at: at(0))
        #expect(turn == .act(.seek(from: at(0))))
        var now = 0.0
        while now < 15 {
            #expect(
                machine.sighted(.bootloader, &course, at: at(now))
                    == .act(.pause(until: at(now + 2)))
            )
            now += 2
            guard case .act(.seek) = machine.tick(&course, at: at(now)) else {
                Issue.record("no search at \(now)")
                return
            }
        }
        #expect(
            machine.sighted(.bootloader, &course, at: at(now))
                == .connect(for: .receive, .bootloader)
        )
        #expect(course.memory.stage == .transferring && course.memory.acknowledged == 0)
    }

    @Test func `a search in a settling ends, and the settling goes on`() throws {
        var course = try SampleCourse.course { $0.stage = .transferring }
        var (machine, _) = UpdateProof.settle(.image, isLinked: false, &course, at: at(0))
        #expect(machine.nextDeadline == at(30))
        #expect(machine.missed(&course, at: at(30)) == .act(.seek(from: at(30))))
        #expect(machine.nextDeadline == at(60))
    }
}
