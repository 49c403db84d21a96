import Base
import Rollout
import Testing

@Suite struct ParkingTests {
    private func at(_ second: Int64) -> Moment { Moment(nanoseconds: second * 1_000_000_000) }

    /// A look at what others work on, among those that were asked about, as many as these.
    private func look(
        _ parking: inout Parking,
        _ busy: Set<Int>,
        favoured: Set<Int> = [],
        hasEnds: Bool = false,
        _ second: Int64
    ) {
        let (asked, counts) = parking.ask()
        parking.look(
            busy: busy.intersection(asked),
            count: counts ? busy.count : nil,
            favoured: favoured,
            hasEnds: hasEnds,
            at: at(second)
        )
    }

    private func due(_ parking: inout Parking, _ second: Int64) -> [Int] {
        parking.due(at: at(second)).map(\.vehicle)
    }

    @Test func `one that must wait is tried again after a quarter of a minute`() {
        var parking = Parking()
        parking.park(4, .other("its wave has not begun"), at: at(0))
        parking.park(2, .held("south"), at: at(0))
        #expect(parking.has(2) && parking.has(4))
        #expect(due(&parking, 14) == [])
        #expect(due(&parking, 15) == [2, 4])
        #expect(!parking.has(2))
    }

    @Test func `one that another machine works on waits for as long as that does`() {
        var parking = Parking()
        parking.park(1, .held("south"), at: at(0))
        look(&parking, [1, 5], 10)
        #expect(due(&parking, 20) == [])
        look(&parking, [1, 5], 24)
        #expect(due(&parking, 30) == [])
        // It was given back.
        look(&parking, [5], 32)
        #expect(due(&parking, 32) == [1])
    }

    @Test func `a look is asked for no more than is waited for`() {
        var parking = Parking()
        parking.park(4, .other("its wave has not begun"), at: at(0))
        #expect(parking.ask() == ([], false))
        parking.park(2, .full("2 are under way"), at: at(0))
        parking.park(1, .held("south"), at: at(0))
        #expect(parking.ask() == ([1], true))
        // One that began to wait after the question is not in the answer.
        parking.park(3, .held("south"), at: at(1))
        parking.look(busy: [], count: 2, hasEnds: false, at: at(2))
        #expect(due(&parking, 2) == [1])
        #expect(due(&parking, 16) == [2, 3, 4])
    }

    @Test func `one for which the gate has no place is tried as soon as there may be one`() {
        var parking = Parking()
        parking.park(1, .full("2 are under way"), at: at(1))
        look(&parking, [7, 8], 5)
        #expect(due(&parking, 5) == [])
        look(&parking, [7], 6)
        #expect(due(&parking, 6) == [1])
        parking.park(1, .full("2 are under way"), at: at(7))
        look(&parking, [7], hasEnds: true, 8)
        #expect(due(&parking, 8) == [1])
        parking.park(1, .full("2 are under way"), at: at(9))
        parking.park(3, .held("south"), at: at(9))
        parking.ended(at: at(10))
        #expect(due(&parking, 10) == [1])
    }

    @Test func `one that another machine hears better waits no longer than its time`() {
        var parking = Parking()
        parking.park(1, .nearer("south", .seconds(6)), at: at(0))
        parking.park(2, .lost("south", .seconds(60)), at: at(0))
        look(&parking, [1, 2], hasEnds: true, 3)
        #expect(due(&parking, 5) == [])
        #expect(due(&parking, 6) == [1])
        #expect(due(&parking, 15) == [2])
        // One that is left to this machine is due.
        parking.park(4, .nearer("south", .seconds(9)), at: at(15))
        look(&parking, [], favoured: [4], 16)
        #expect(due(&parking, 16) == [4])
        parking.park(3, .held("south"), at: at(20))
        parking.leave(3)
        #expect(due(&parking, 99) == [])
    }
}
