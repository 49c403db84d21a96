import Base
import Moments
import Radio
import Testing

/// The approach to a link and to the application's state: the order of its steps, and its end.
@Suite struct UpdateApproachTests {
    private func approach(
        _ errand: UpdateApproach.Errand,
        _ course: UpdateCourse
    ) -> UpdateApproach {
        UpdateApproach(seekingFor: errand, course, at: at(0))
    }

    @Test func `heard, linked, inspected, prepared`() throws {
        var course = try SampleCourse.course()
        var machine = approach(.inspect, course)
        #expect(machine.sighted(.application, &course, at: at(1)) == .act(.connect))
        #expect(machine.linked(&course, at: at(2)) == .act(.inspect))
        let found = SampleCourse.inspection(SampleCourse.old)
        #expect(machine.inspected(found, &course, at: at(3)) == .act(.prepare))
        #expect(course.memory.stage == .preparing && course.memory.inBootloader)
        #expect(machine.prepared(&course) == .leave(for: .receive, pause: .zero))
        #expect(course.memory.stage == .transferring)
    }

    @Test func `an application that takes images itself is asked what it has`() throws {
        var course = try SampleCourse.course(bootloader: false)
        var (machine, turn) = UpdateApproach.begin(
            linkedTo: .application,
            &course,
            at: at(0)
        )
        #expect(turn == .act(.inspect))
        let found = SampleCourse.inspection(SampleCourse.old)
        #expect(machine.inspected(found, &course, at: at(1)) == .act(.prepare))
        #expect(machine.prepared(&course) == .probe(.toSend))
    }

    @Test(arguments: [
        (true, UpdateTurn.end(.alreadyCurrent(SampleCourse.target))),
        (false, .settle(.image, isLinked: true)),
    ])
    func `the image that runs is only proven when it is kept`(
        confirmed: Bool,
        turn: UpdateTurn
    ) throws {
        var course = try SampleCourse.course()
        var (machine, _) = UpdateApproach.begin(linkedTo: .application, &course, at: at(0))
        let found = SampleCourse.inspection(SampleCourse.target, confirmed: confirmed)
        #expect(machine.inspected(found, &course, at: at(1)) == turn)
        #expect(course.memory.stage == .none)
    }

    @Test(arguments: UpdateMemory.Stage.allCases)
    func `what was begun before decides what is done with the old image`(
        stage: UpdateMemory.Stage
    ) throws {
        var course = try SampleCourse.course(bootloader: false) { $0.stage = stage }
        var (machine, _) = UpdateApproach.begin(linkedTo: .application, &course, at: at(0))
        let found = SampleCourse.inspection(SampleCourse.old)
        let turn = machine.inspected(found, &course, at: at(1))
        switch stage {
        case .none, .preparing, .transferring: #expect(turn == .act(.prepare))
        case .activating: #expect(turn == .probe(.toSend))
        case .settling, .checking, .confirming: #expect(turn == .settle(.image, isLinked: true))
        case .rollingBack:
            let sentence = "it did not meet its health conditions"
            #expect(turn == .settle(.wayBack(because: sentence), isLinked: true))
        }
    }

    @Test(arguments: UpdateMemory.Stage.allCases)
    func `the image found running after a cut is watched to its rest, for one look proves nothing`(
        stage: UpdateMemory.Stage
    ) throws {
        var course = try SampleCourse.course { $0.stage = stage }
        var (machine, _) = UpdateApproach.begin(linkedTo: .application, &course, at: at(0))
        let found = SampleCourse.inspection(SampleCourse.target)
        let turn = machine.inspected(found, &course, at: at(1))
        switch stage {
        case .none: #expect(turn == .end(.alreadyCurrent(SampleCourse.target)))
        case .preparing, .transferring, .activating, .settling, .checking:
            #expect(turn == .settle(.image, isLinked: true))
        case .confirming:
            // The module was at rest before it was asked to keep the image.
            #expect(turn == .end(.settled(.confirmed(SampleCourse.target))))
        case .rollingBack:
            let sentence = "it did not meet its health conditions"
            #expect(turn == .settle(.wayBack(because: sentence), isLinked: true))
        }
    }

    @Test func `a search is repeated as often as promised, the first for a bootloader is longer`()
        throws
    {
        var course = try SampleCourse.course()
        var machine = approach(.receive, course)
        var due: [Moment] = []
        for _ in 0..<3 {
            let now = machine.nextDeadline
            due.append(now)
            #expect(machine.tick(&course, at: now) == .act(.seek(from: now)))
        }
        due.append(machine.nextDeadline)
        #expect(due == [at(60), at(90), at(120), at(150)])
        let fault = UpdateFault(
            .unreachable,
            "its bootloader was not heard within 2m30s"
        )
        #expect(machine.tick(&course, at: at(150)) == .end(.failed(fault)))
    }

    @Test func `an application heard where its bootloader should be is waited for three times`()
        throws
    {
        var course = try SampleCourse.course { $0.inBootloader = true }
        var machine = approach(.receive, course)
        for round in 0..<3 {
            let now = at(Double(round) * 2)
            let until = now.advanced(by: .seconds(2))
            #expect(
                machine.sighted(.application, &course, at: now) == .act(.pause(until: until))
            )
            #expect(machine.tick(&course, at: now) == nil)
            #expect(machine.tick(&course, at: until) == .act(.seek(from: until)))
        }
        let fault = UpdateFault(
            .transient,
            "the module runs its application, not its bootloader"
        )
        #expect(machine.sighted(.application, &course, at: at(6)) == .end(.failed(fault)))
        #expect(!course.memory.inBootloader)
    }

    @Test func `a bootloader that does not let itself be connected to is tried again`() throws {
        var course = try SampleCourse.course()
        let again = UpdateTurn.leave(for: .receive, pause: .seconds(1))
        for _ in 0..<3 {
            var machine = approach(.receive, course)
            #expect(machine.sighted(.bootloader, &course, at: at(1)) == .act(.connect))
            #expect(machine.failed(SampleCourse.refused, &course) == again)
        }
        var machine = approach(.receive, course)
        _ = machine.sighted(.bootloader, &course, at: at(1))
        #expect(
            machine.failed(SampleCourse.refused, &course) == .end(.failed(SampleCourse.refused))
        )
    }

    @Test func `what heard that it should go back, and is in its bootloader, gets the image`()
        throws
    {
        var course = try SampleCourse.course { $0.stage = .rollingBack }
        for round in 1...3 {
            var machine = approach(.rollBack(because: "too slow"), course)
            let turn = machine.sighted(.bootloader, &course, at: at(1))
            guard round == 3 else {
                #expect(turn == .connect(for: .receive, .bootloader))
                #expect(course.memory.stage == .transferring)
                continue
            }
            guard case .end(.failed(let fault)) = turn else {
                Issue.record("\(String(describing: turn))")
                return
            }
            #expect(fault.failure == .device)
        }
    }

    @Test func `on its way back the application is asked to go`() throws {
        var course = try SampleCourse.course()
        var machine = approach(.rollBack(because: "too slow"), course)
        #expect(machine.sighted(.application, &course, at: at(1)) == .act(.connect))
        #expect(machine.linked(&course, at: at(2)) == .rollBack(because: "too slow"))
    }

    @Test func `events of other states change nothing`() throws {
        var course = try SampleCourse.course()
        var machine = approach(.inspect, course)
        let before = machine
        #expect(machine.linked(&course, at: at(1)) == nil)
        #expect(machine.prepared(&course) == nil)
        #expect(machine.disconnected(course, at: at(1)) == nil)
        let found = SampleCourse.inspection(SampleCourse.old)
        #expect(machine.inspected(found, &course, at: at(1)) == nil)
        #expect(machine.tick(&course, at: at(1)) == nil)
        #expect(machine == before)
    }
}
