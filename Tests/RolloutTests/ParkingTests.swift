import Base
import Rollout
import Testing

@Suite struct ParkingTests {
    private func at(_ second: Int64) -> Moment { Moment(nanoseconds: second * 1_000_000_000) }

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
        parking.look(busy: [1, 5], hasEnds: false, at: at(10))
        #expect(due(&parking, 20) == [])
        parking.look(busy: [1, 5], hasEnds: false, at: at(24))
        #expect(due(&parking, 30) == [])
        // It was given back.
        parking.look(busy: [5], hasEnds: false, at: at(32))
        #expect(due(&parking, 32) == [1])
    }

    @Test func `one for which the gate has no place is tried as soon as there may be one`() {
        var parking = Parking()
        parking.look(busy: [7, 8], hasEnds: false, at: at(0))
        parking.park(1, .full("2 are under way"), at: at(1))
        parking.look(busy: [7, 8], hasEnds: false, at: at(5))
        #expect(due(&parking, 5) == [])
        parking.look(busy: [7], hasEnds: false, at: at(6))
        #expect(due(&parking, 6) == [1])
        parking.park(1, .full("2 are under way"), at: at(7))
        parking.look(busy: [7], hasEnds: true, at: at(8))
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
        parking.look(busy: [1, 2], hasEnds: true, at: at(3))
        #expect(due(&parking, 5) == [])
        #expect(due(&parking, 6) == [1])
        #expect(due(&parking, 15) == [2])
        // One that is left to this machine is due.
        parking.park(4, .nearer("south", .seconds(9)), at: at(15))
        parking.look(busy: [], favoured: [4], hasEnds: false, at: at(16))
        #expect(due(&parking, 16) == [4])
        parking.park(3, .held("south"), at: at(20))
        parking.leave(3)
        #expect(due(&parking, 99) == [])
    }
}
