import Base
import Moments
import Radio
import Testing

/// From the module's state to the complete image, on one link.
@Suite struct UpdateTransferTests {
    private func transfer(
        _ course: UpdateCourse,
        for reason: UpdateTransfer.Reason = .toSend
    ) -> UpdateTransfer {
        UpdateTransfer(probing: reason, course, at: at(0))
    }

    @Test func `what is missing is sent, and then it is to run`() throws {
        var course = try SampleCourse.course(bootloader: false)
        var machine = transfer(course)
        let half = UpdateProbe(holdings: [.some(5_000)])
        #expect(
            machine.probed(half, &course, at: at(1)) == .act(.transfer(part: 0, pace: 0))
        )
        #expect(course.memory.acknowledged == 5_000)
        #expect(
            machine.transferred(linkHolds: true, &course, at: at(2)) == .act(.activate)
        )
        #expect(course.memory.settleDeadline != nil)
        #expect(machine.activated() == .settle(.image, isLinked: false))
    }

    @Test func `a bootloader runs what it has by itself, part after part`() throws {
        var course = try SampleCourse.course(sizes: [4_000, 6_000])
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 2), &course, at: at(1))
        #expect(
            machine.transferred(linkHolds: true, &course, at: at(2))
                == .act(.transfer(part: 1, pace: 0))
        )
        #expect(
            machine.transferred(linkHolds: true, &course, at: at(3))
                == .settle(.image, isLinked: false)
        )
    }

    @Test func `a link that ends with a part is made again for the next`() throws {
        var course = try SampleCourse.course(sizes: [4_000, 6_000])
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 2), &course, at: at(1))
        #expect(
            machine.transferred(linkHolds: false, &course, at: at(2))
                == .leave(for: .receive, pause: .seconds(1))
        )
        // An installed part leaves no trace in the bootloader, so the memory gives the next part.
        machine = transfer(course)
        #expect(
            machine.probed(.nothing(parts: 2), &course, at: at(3))
                == .act(.transfer(part: 1, pace: 0))
        )
    }

    @Test func `an image that is sent again has a settle deadline of its own`() throws {
        // A settling had begun; then the module was in its bootloader again, without the image.
        let first = wall(600)
        var course = try SampleCourse.course {
            $0.stage = .transferring
            $0.settleDeadline = first
        }
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 1), &course, at: at(590))
        #expect(
            machine.transferred(linkHolds: true, &course, at: at(700))
                == .settle(.image, isLinked: false)
        )
        _ = UpdateProof.settle(.image, isLinked: false, &course, at: at(700))
        let whole = course.limits.settle.total
        #expect(course.memory.settleDeadline == wall(700).advanced(by: whole))
    }

    @Test(arguments: [
        (UpdateProbe.Holding.whole, UpdateTurn.act(.activate)), (.pending, .act(.activate)),
        (.running, .settle(.image, isLinked: true)),
    ])
    func `what is there is not sent again`(
        holding: UpdateProbe.Holding,
        turn: UpdateTurn
    ) throws {
        var course = try SampleCourse.course(bootloader: false)
        var machine = transfer(course)
        #expect(machine.probed(UpdateProbe(holdings: [holding]), &course, at: at(1)) == turn)
    }

    @Test func `somebody else's bootloader is left alone once`() throws {
        var course = try SampleCourse.course { $0.inBootloader = true }
        let foreign = UpdateProbe(holdings: [.none], isForeign: true)
        var machine = transfer(course)
        #expect(
            machine.probed(foreign, &course, at: at(1))
                == .leave(for: .inspect, pause: .seconds(150))
        )
        #expect(course.memory.stage == .none)
        // The module has stayed in its bootloader, so this update takes it over.
        machine = transfer(course)
        #expect(
            machine.probed(foreign, &course, at: at(200)) == .act(.transfer(part: 0, pace: 0))
        )
        #expect(course.memory.stage == .transferring)
    }

    @Test func `a part of an image without a name is ours when our transfer had begun`() throws {
        let part = UpdateProbe(holdings: [.unnamed(4_096)])
        // What is there may be the beginning of an image that was recalled meanwhile.
        var course = try SampleCourse.course(bootloader: false) { $0.stage = .preparing }
        var machine = transfer(course)
        let before = course.memory
        guard case .end(.failed(let fault)) = machine.probed(part, &course, at: at(1)) else {
            Issue.record("it goes on with another image")
            return
        }
        #expect(fault.failure == .device && fault.description.contains("switched off and on"))
        #expect(course.memory == before)
        // A run that was killed before it kept any progress.
        course = try SampleCourse.course(bootloader: false) { $0.stage = .transferring }
        machine = transfer(course)
        #expect(machine.probed(part, &course, at: at(1)) == .act(.transfer(part: 0, pace: 0)))
        #expect(course.memory.acknowledged == 4_096)
    }

    @Test func `progress moves the timer, and a stall makes the next try slower`() throws {
        var course = try SampleCourse.course()
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 1), &course, at: at(0))
        #expect(machine.nextDeadline == at(60))
        machine.progressed(to: 100, resumedFrom: 0, &course, at: at(30))
        #expect(machine.nextDeadline == at(90))
        // The same bytes again are not progress.
        machine.progressed(to: 100, resumedFrom: 0, &course, at: at(50))
        #expect(machine.nextDeadline == at(90))
        #expect(machine.tick(&course, at: at(89)) == nil)
        #expect(machine.tick(&course, at: at(90)) == .leave(for: .receive, pause: .zero))
        machine = transfer(course)
        #expect(
            machine.probed(.nothing(parts: 1), &course, at: at(91))
                == .act(.transfer(part: 0, pace: 1))
        )
        #expect(course.memory.interruptions == 1)
    }

    @Test func `a transfer that moves is not broken off before its whole time is over`() throws {
        var course = try SampleCourse.course(sizes: [100_000])
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 1), &course, at: at(0))
        for minute in 1..<40 {
            machine.progressed(
                to: minute * 100,
                resumedFrom: 0,
                &course,
                at: at(Double(minute) * 50)
            )
        }
        // 100,000 bytes at 50 bytes per second.
        #expect(machine.tick(&course, at: at(1_999)) == nil)
        machine.progressed(to: 5_000, resumedFrom: 0, &course, at: at(1_999))
        #expect(machine.nextDeadline == at(2_000))
        #expect(machine.tick(&course, at: at(2_000)) == .leave(for: .receive, pause: .zero))
        #expect(course.lastCause?.description == "the transfer takes too long")
    }

    @Test func `links that bring nothing are counted, and a byte more begins the count again`()
        throws
    {
        var course = try SampleCourse.course { $0.stage = .transferring }
        var turns: [UpdateTurn?] = []
        for bytes in [0, 0, 500, 500, 500, 500] {
            var machine = transfer(course)
            _ = machine.probed(.nothing(parts: 1), &course, at: at(0))
            machine.progressed(to: bytes, resumedFrom: 0, &course, at: at(1))
            turns.append(machine.failed(SampleCourse.lost, &course, at: at(2)))
        }
        #expect(turns.dropLast().allSatisfy { $0 == .leave(for: .receive, pause: .zero) })
        guard case .end(.failed(let fault)) = turns.last ?? nil else {
            Issue.record("\(turns)")
            return
        }
        #expect(fault.failure == .transient)
        #expect(course.memory.interruptions == 6)
    }

    /// The message after the link was lost at these bytes, so long after each.
    private func message(
        after losses: [(byte: Int, silence: Double, fault: UpdateFault)]
    ) throws -> String {
        var course = try SampleCourse.course { $0.stage = .transferring }
        for (byte, silence, fault) in losses {
            var machine = transfer(course)
            _ = machine.probed(.nothing(parts: 1), &course, at: at(0))
            machine.progressed(to: byte, resumedFrom: 0, &course, at: at(1))
            let turn = machine.failed(fault, &course, at: at(1 + silence))
            if case .end(.failed(let fault)) = turn { return fault.description }
        }
        return "goes on"
    }

    @Test
    func `a link that is always lost at one byte, like one of a module that erases, has a remedy`()
        throws
    {
        let lost = SampleCourse.lost
        let same = try message(
            after: [(500, 0.45, lost), (500, 0.9, lost), (500, 0.44, lost), (500, 0.5, lost)]
        )
        #expect(same.contains("each time at byte 500, 440ms after the last answer"), "\(same)")
        #expect(same.contains("ConnectionSupervisionTimeout = 1000 under [LE]"))
        // At other bytes, at once, after a long time, or because of something else.
        let others: [[(byte: Int, silence: Double, fault: UpdateFault)]] = [
            [(500, 0.45, lost), (400, 0.45, lost), (300, 0.45, lost), (200, 0.45, lost)],
            [(500, 0.45, lost), (500, 0.45, lost), (500, 0.45, lost), (500, 0, lost)],
            [(500, 0.45, lost), (500, 0.45, lost), (500, 0.45, lost), (500, 9, lost)],
            [
                (500, 1, lost), (500, 1, lost), (500, 1, lost),
                (500, 1, UpdateFault(.transient, "no")),
            ],
        ]
        for losses in others {
            let message = try message(after: losses)
            #expect(message.contains("without a byte more"), "\(message)")
            #expect(!message.contains("ConnectionSupervisionTimeout"), "\(message)")
        }
    }

    @Test func `a link that breaks with the order to run leaves it in doubt`() throws {
        for (bootloader, aim) in [(false, UpdateProof.Aim.activation), (true, .image)] {
            var course = try SampleCourse.course(bootloader: bootloader)
            var machine = transfer(course)
            let whole = UpdateProbe(holdings: [.whole])
            #expect(machine.probed(whole, &course, at: at(1)) == .act(.activate))
            #expect(
                machine.failed(SampleCourse.lost, &course, at: at(2))
                    == .settle(aim, isLinked: false)
            )
        }
        // When the activation is in doubt, the module's state is read; an error of that changes
        // nothing.
        var course = try SampleCourse.course(bootloader: false) { $0.stage = .activating }
        var machine = transfer(course, for: .activationInDoubt)
        #expect(
            machine.failed(SampleCourse.refused, &course, at: at(3))
                == .settle(.activation, isLinked: true)
        )
    }

    @Test func `an order to run that is refused is given again on another link`() throws {
        var course = try SampleCourse.course(bootloader: false)
        var machine = transfer(course)
        _ = machine.probed(UpdateProbe(holdings: [.whole]), &course, at: at(1))
        #expect(
            machine.failed(SampleCourse.refused, &course, at: at(2))
                == .leave(for: .receive, pause: .seconds(1))
        )
    }

    @Test func `a part that is there already gives way to the next`() throws {
        var course = try SampleCourse.course(sizes: [4_000, 6_000])
        var machine = transfer(course)
        _ = machine.probed(.nothing(parts: 2), &course, at: at(1))
        let there = UpdateFault(.rejected, .alreadyThere, "has a newer one")
        #expect(
            machine.failed(there, &course, at: at(2)) == .act(.transfer(part: 1, pace: 0))
        )
        #expect(machine.failed(there, &course, at: at(3)) == .end(.failed(there)))
    }
}
