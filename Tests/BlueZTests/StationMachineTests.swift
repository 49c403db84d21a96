import Base
import BlueZ
import Testing

@Suite struct StationMachineTests {
    private static let begin = Moment(nanoseconds: 0)
    private static func after(_ milliseconds: Int) -> Moment {
        begin.advanced(by: .milliseconds(milliseconds))
    }

    private func shown(round: Duration? = nil) -> StationMachine {
        var machine = StationMachine("hci0", round: round)
        #expect(
            machine.want(table: 1, advertisement: 1, at: Self.begin) == [.perform(.register(1))]
        )
        #expect(machine.done(.register(1), nil, at: Self.begin) == [.perform(.advertise(1))])
        #expect(machine.done(.advertise(1), nil, at: Self.begin) == [.settled])
        return machine
    }

    @Test func `a table comes before its advertisement, and goes after it`() {
        var machine = shown()
        let gone = machine.want(table: nil, advertisement: nil, at: Self.begin)
        #expect(gone == [.perform(.withdraw(1))])
        #expect(machine.done(.withdraw(1), nil, at: Self.begin) == [.perform(.unregister(1))])
        #expect(machine.done(.unregister(1), nil, at: Self.begin) == [.settled])
        #expect(machine.isBare)
    }

    @Test func `another table is advertised again even when the advertisement stays`() {
        var machine = shown()
        var actions = machine.want(table: 2, advertisement: 1, at: Self.begin)
        var steps: [StationMachine.Step] = []
        while case .perform(let step)? = actions.first {
            steps.append(step)
            actions = machine.done(step, nil, at: Self.begin)
        }
        #expect(steps == [.withdraw(1), .unregister(1), .register(2), .advertise(1)])
        #expect(actions == [.settled])
    }

    @Test func `a wish that changes under way is met after the step`() {
        var machine = StationMachine("hci0", round: nil)
        _ = machine.want(table: 1, advertisement: 1, at: Self.begin)
        #expect(machine.want(table: nil, advertisement: nil, at: Self.begin) == [])
        #expect(machine.done(.register(1), nil, at: Self.begin) == [.perform(.unregister(1))])
    }

    @Test func `a taken slot is asked for each second, and noted once`() {
        var machine = StationMachine("hci0", round: nil)
        _ = machine.want(table: 1, advertisement: 1, at: Self.begin)
        _ = machine.done(.register(1), nil, at: Self.begin)
        let note = StationMachine.Action.note(.advertisingSlotsTaken(adapter: "hci0"))
        #expect(machine.done(.advertise(1), .notPermitted, at: Self.begin) == [note])
        #expect(machine.deadline == Self.after(1_000))
        #expect(machine.tick(at: Self.after(1_000)) == [.perform(.advertise(1))])
        #expect(machine.done(.advertise(1), .notPermitted, at: Self.after(1_000)) == [])
        #expect(!machine.hasAdvertised)
        _ = machine.tick(at: Self.after(2_000))
        #expect(machine.done(.advertise(1), nil, at: Self.after(2_000)) == [.settled])
        #expect(machine.hasAdvertised)
    }

    @Test func `a refusal is reported, and not tried again until something else is wanted`() {
        var machine = StationMachine("hci0", round: nil)
        _ = machine.want(table: 1, advertisement: 1, at: Self.begin)
        let refused = machine.done(.register(1), .failed, at: Self.begin)
        #expect(refused == [.refused(.register(1), .failed)])
        #expect(machine.tick(at: Self.after(5_000)) == [])
        #expect(
            machine.want(table: 2, advertisement: 1, at: Self.begin) == [.perform(.register(2))]
        )
    }

    @Test func `a dropped advertisement is made again after a moment`() {
        var machine = shown()
        #expect(machine.released(at: Self.begin) == [])
        #expect(machine.deadline == Self.after(500))
        #expect(machine.tick(at: Self.after(500)) == [.perform(.advertise(1))])
    }

    @Test func `after a loss all is registered again`() {
        var machine = shown()
        machine.voided()
        #expect(machine.isBare)
        #expect(machine.tick(at: Self.after(5_000)) == [])
        // The answer to a call from before the loss.
        #expect(machine.done(.advertise(1), nil, at: Self.begin) == [])
        #expect(machine.usable(at: Self.begin) == [.perform(.register(1))])
    }

    @Test func `an advertisement is made again each round while nobody comes`() {
        var machine = shown(round: .seconds(3))
        #expect(machine.deadline == Self.after(3_000))
        #expect(machine.tick(at: Self.after(3_000)) == [.perform(.withdraw(1))])
        let again = machine.done(.withdraw(1), nil, at: Self.after(3_000))
        #expect(again == [.perform(.advertise(1))])
    }

    @Test func `anyone who has come is not disturbed`() {
        var machine = shown(round: .seconds(3))
        machine.isVisited = true
        #expect(machine.deadline == nil)
        #expect(machine.tick(at: Self.after(30_000)) == [.settled])
    }
}
