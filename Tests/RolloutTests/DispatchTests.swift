import Base
import Rollout
import Testing

@Suite struct DispatchTests {
    private func vehicle(
        _ signal: Int?,
        isOpen: Bool = false,
        precedence: Dispatch.Precedence = .now,
        attempts: Int = 0
    ) -> Dispatch.Vehicle {
        var vehicle = Dispatch.Vehicle()
        vehicle.isOpen = isOpen
        vehicle.precedence = precedence
        vehicle.attempts = attempts
        if let signal { vehicle.signals = [0: signal] }
        return vehicle
    }

    private func dispatch(
        _ vehicles: [Dispatch.Vehicle],
        adapters: Int = 1,
        links: Int = 1,
        overlaps: Bool = true
    ) -> Dispatch {
        let names = (0..<adapters).map { "hci\($0)" }
        var dispatch = Dispatch(
            vehicles,
            adapters: names,
            linksPerAdapter: links,
            learned: Dictionary(uniqueKeysWithValues: names.map { ($0, links) }),
            overlaps: overlaps
        )
        for index in vehicles.indices { dispatch.letIn(index) }
        return dispatch
    }

    private func at(_ second: Int64) -> Moment { Moment(nanoseconds: second * 1_000_000_000) }

    /// Runs each vehicle for a second, one after the other, and returns their order.
    private func order(_ dispatch: Dispatch) -> [Int] {
        var dispatch = dispatch
        var order: [Int] = []
        for second in 0..<100 {
            for case .begin(let vehicle, _) in dispatch.grants(
                at: at(Int64(second)),
                mostUnderWay: 9
            ) {
                order.append(vehicle)
                dispatch.ended(vehicle, at: at(Int64(second) + 1))
            }
        }
        return order
    }

    @Test func `what was begun comes first, then the strongest, then the least tried`() {
        let dispatch = dispatch([
            vehicle(-80), vehicle(-50, attempts: 3), vehicle(-50), vehicle(-90, isOpen: true),
            vehicle(-40, precedence: .atTheEnd), vehicle(-50, attempts: 3),
        ])
        #expect(order(dispatch) == [3, 2, 1, 5, 0, 4])
    }

    @Test func `one that another machine hears better comes after all others`() {
        var vehicles = [vehicle(-40), vehicle(-80), vehicle(-50), vehicle(-90, isOpen: true)]
        vehicles[0].turn = .last
        vehicles[1].precedence = .atTheEnd
        var dispatch = dispatch(vehicles)
        #expect(order(dispatch) == [3, 2, 1, 0])
        // What is in mid-update is begun anyway.
        #expect(dispatch.nearness(of: 3) == nil)
        #expect(dispatch.nearness(of: 0) == Nearness(signal: -40, hasOthers: true))
        for taken in [3, 2, 1] {
            #expect(
                dispatch.grants(at: at(0), mostUnderWay: 9) == [.begin(vehicle: taken, adapter: 0)]
            )
            dispatch.ended(taken, at: at(1))
        }
        #expect(!dispatch.hasOthers)
        #expect(
            dispatch.grants(at: at(2), mostUnderWay: 9) == [.begin(vehicle: 0, adapter: 0)]
        )
        dispatch.ended(0, at: at(3))
        #expect(dispatch.queued == 0 && !dispatch.hasOthers)
        // Taken up again after a wait it stays where it is; taken again as new it is heard first.
        dispatch.isNearer(elsewhere: 0)
        dispatch.again(0, attempts: 0, isOpen: false, hasWaited: true)
        dispatch.letIn(0)
        #expect(dispatch.queued == 1 && !dispatch.hasOthers)
        dispatch.ended(0, at: at(4))
        dispatch.again(0, attempts: 0, isOpen: false)
        dispatch.letIn(0)
        #expect(dispatch.vehicles[0].turn == .usual && dispatch.unheard == 1)
        dispatch.heard(0, on: 0, signal: -44)
        #expect(dispatch.hasOthers)
    }

    @Test func `one that other machines leave to this one is begun next`() {
        var vehicles = [vehicle(-40), vehicle(-50), vehicle(-60), vehicle(nil)]
        vehicles[1].turn = .last
        var dispatch = dispatch(vehicles)
        dispatch.isFavoured(2)
        dispatch.isFavoured(2)
        dispatch.isFavoured(1)
        // One that is not heard is not begun for that.
        dispatch.isFavoured(3)
        #expect(dispatch.unheard == 1)
        #expect(order(dispatch) == [1, 2, 0])
        // Work on it ends the precedence.
        #expect(dispatch.grants(at: at(0), mostUnderWay: 9) == [.begin(vehicle: 1, adapter: 0)])
        #expect(dispatch.vehicles[1].turn == .usual && dispatch.hasOthers)
    }

    @Test func `a signal that is heard again takes the place of what was known`() {
        var dispatch = dispatch([vehicle(nil), vehicle(-60)])
        dispatch.heard(0, on: 0, signal: -50)
        dispatch.heard(0, on: 0, signal: -56)
        #expect(dispatch.nearness(of: 0)?.signal == -56)
        #expect(order(dispatch) == [0, 1])
    }

    @Test func `one left in mid-update is begun even when nobody hears it`() {
        #expect(
            order(dispatch([vehicle(-50), vehicle(nil, isOpen: true), vehicle(nil)])) == [1, 0]
        )
    }

    @Test
    func `while a module rests its adapter works on the next, and it goes on before new ones`() {
        var dispatch = dispatch([vehicle(-50), vehicle(-60), vehicle(-70)])
        #expect(dispatch.grants(at: at(0), mostUnderWay: 9) == [.begin(vehicle: 0, adapter: 0)])
        dispatch.gaveBack(0, at: at(5))
        #expect(dispatch.grants(at: at(5), mostUnderWay: 9) == [.begin(vehicle: 1, adapter: 0)])
        let hasTurn = dispatch.asks(0, .settling)
        #expect(!hasTurn)
        #expect(dispatch.grants(at: at(6), mostUnderWay: 9) == [])
        dispatch.gaveBack(1, at: at(9))
        #expect(dispatch.grants(at: at(9), mostUnderWay: 9) == [.goOn(vehicle: 0, adapter: 0)])
        dispatch.ended(0, at: at(12))
        #expect(dispatch.grants(at: at(12), mostUnderWay: 9) == [.begin(vehicle: 2, adapter: 0)])
        #expect(dispatch.vehicles[0].airtime == .seconds(8))
        #expect(dispatch.adapters[0].busy == .seconds(12))
    }

    @Test func `a bootloader that waits comes before one that settles and one that is sought`() {
        var dispatch = dispatch([vehicle(-50), vehicle(-51), vehicle(-52)], links: 3)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        for vehicle in 0..<3 { dispatch.gaveBack(vehicle, at: at(1)) }
        var single = dispatch
        _ = single.asks(0, .search)
        _ = single.asks(1, .settling)
        _ = single.asks(2, .bootloader)
        #expect(
            single.grants(at: at(2), mostUnderWay: 9) == [
                .goOn(vehicle: 2, adapter: 0), .goOn(vehicle: 1, adapter: 0),
                .goOn(vehicle: 0, adapter: 0),
            ]
        )
    }

    @Test func `a restarting module is searched for beside the links, and then waits for one`() {
        var dispatch = dispatch((0..<3).map { vehicle(-50 - $0) }, links: 2)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        dispatch.gaveBack(0, at: at(1))
        #expect(dispatch.grants(at: at(1), mostUnderWay: 9) == [.begin(vehicle: 2, adapter: 0)])
        _ = dispatch.asks(0, .settling)
        #expect(dispatch.grants(at: at(2), mostUnderWay: 9) == [.goOn(vehicle: 0, adapter: 0)])
        #expect(!dispatch.isExcess(0) && !dispatch.isExcess(1))
        let hasLink = dispatch.asksForLink(0)
        #expect(!hasLink)
        #expect(dispatch.grants(at: at(3), mostUnderWay: 9) == [])
        dispatch.ended(1, at: at(4))
        #expect(dispatch.grants(at: at(4), mostUnderWay: 9) == [.link(vehicle: 0, adapter: 0)])
        let hasOne = dispatch.asksForLink(0)
        #expect(hasOne && dispatch.adapters[0].searchers == 0)
        #expect(dispatch.airtime(of: 0, at: at(6)) == .seconds(5))
        #expect(dispatch.linkTime(of: 0, at: at(6)) == .seconds(3), "two of them were a search")
    }

    @Test func `no more modules are searched for than there are other links`() {
        var dispatch = dispatch((0..<5).map { vehicle(-50 - $0) }, links: 3)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        for vehicle in 0..<3 { dispatch.gaveBack(vehicle, at: at(1)) }
        _ = dispatch.grants(at: at(1), mostUnderWay: 5)
        for vehicle in 0..<3 { _ = dispatch.asks(vehicle, .settling) }
        _ = dispatch.grants(at: at(2), mostUnderWay: 5)
        #expect((0..<3).map { dispatch.vehicles[$0].isSearching } == [true, true, false])
        #expect(dispatch.adapters[0].holders == 5 && dispatch.adapters[0].searchers == 2)
        dispatch.gaveBack(0, at: at(3))
        #expect(dispatch.adapters[0].holders == 4 && dispatch.adapters[0].searchers == 1)
        #expect(dispatch.linkTime(of: 0, at: at(3)) == .seconds(1), "that of its first turn")
    }

    @Test func `a bootloader is not searched for beside the links, and its link comes first`() {
        var dispatch = dispatch((0..<4).map { vehicle(-50 - $0) }, links: 2)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        for vehicle in 0..<2 { dispatch.gaveBack(vehicle, at: at(1)) }
        _ = dispatch.grants(at: at(1), mostUnderWay: 9)
        _ = dispatch.asks(0, .settling)
        _ = dispatch.asks(1, .bootloader)
        #expect(dispatch.grants(at: at(2), mostUnderWay: 9) == [.goOn(vehicle: 0, adapter: 0)])
        _ = dispatch.asksForLink(0)
        dispatch.ended(2, at: at(3))
        #expect(dispatch.grants(at: at(3), mostUnderWay: 9) == [.goOn(vehicle: 1, adapter: 0)])
        dispatch.ended(3, at: at(4))
        #expect(dispatch.grants(at: at(4), mostUnderWay: 9) == [.link(vehicle: 0, adapter: 0)])
    }

    /// The first of `count` vehicles has found its module while two others have the links of the adapter.
    private func waitingForLink(of count: Int, mostUnderWay: Int) -> Dispatch {
        var dispatch = dispatch((0..<count).map { vehicle(-50 - $0) }, links: 2)
        _ = dispatch.grants(at: at(0), mostUnderWay: mostUnderWay)
        dispatch.gaveBack(0, at: at(1))
        _ = dispatch.grants(at: at(1), mostUnderWay: mostUnderWay)
        _ = dispatch.asks(0, .settling)
        _ = dispatch.grants(at: at(2), mostUnderWay: mostUnderWay)
        _ = dispatch.asksForLink(0)
        return dispatch
    }

    @Test func `who waits for a link of a lost adapter is let go, and so is one that stops`() {
        for stops in [false, true] {
            var dispatch = waitingForLink(of: 3, mostUnderWay: 9)
            if stops { dispatch.leavesLine(0) } else { dispatch.lost(0) }
            let grants = dispatch.grants(at: at(3), mostUnderWay: 9)
            #expect(grants == (stops ? [] : [.link(vehicle: 0, adapter: 0)]))
            dispatch.ended(0, at: at(4))
            #expect(dispatch.adapters[0].holders == 2 && dispatch.adapters[0].searchers == 0)
        }
    }

    @Test func `while few are under way, a new one comes before a module that settles`() {
        var dispatch = waitingForLink(of: 10, mostUnderWay: 20)
        for vehicle in 1...5 {
            dispatch.gaveBack(vehicle, at: at(3))
            #expect(
                dispatch.grants(at: at(3), mostUnderWay: 20)
                    == [.begin(vehicle: vehicle + 2, adapter: 0)]
            )
        }
        // Four for each link are under way: what was begun is finished first.
        dispatch.gaveBack(6, at: at(4))
        #expect(dispatch.grants(at: at(4), mostUnderWay: 20) == [.link(vehicle: 0, adapter: 0)])
    }

    @Test func `while few are under way, no new one comes before another attempt`() {
        var dispatch = dispatch((0..<8).map { vehicle(-50 - $0) }, links: 2)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        for vehicle in 0...1 { dispatch.gaveBack(vehicle, at: at(1)) }
        _ = dispatch.grants(at: at(1), mostUnderWay: 9)
        for vehicle in 0...1 { _ = dispatch.asks(vehicle, .settling) }
        _ = dispatch.grants(at: at(2), mostUnderWay: 9)
        dispatch.gaveBack(2, at: at(3))
        _ = dispatch.asks(2, .next)
        #expect(dispatch.grants(at: at(3), mostUnderWay: 9) == [.goOn(vehicle: 1, adapter: 0)])
        dispatch.ended(3, at: at(4))
        #expect(dispatch.grants(at: at(4), mostUnderWay: 9) == [.goOn(vehicle: 2, adapter: 0)])
    }

    @Test(arguments: [(1, 1), (1, 3), (4, 1), (4, 2)])
    func `no adapter ever has more links than it may`(adapters: Int, links: Int) {
        var random = SplitMix64(seed: UInt64(adapters * 10 + links))
        let vehicles = (0..<60).map { index in
            var vehicle = Dispatch.Vehicle()
            for adapter in 0..<adapters { vehicle.signals[adapter] = -40 - index % 7 }
            return vehicle
        }
        var dispatch = dispatch(vehicles, adapters: adapters, links: links)
        var holding: Set<Int> = []
        var resting: Set<Int> = []
        var done = 0
        for second in 0..<5_000 where done < 60 {
            let now = at(Int64(second))
            for grant in dispatch.grants(at: now, mostUnderWay: 1_000) {
                switch grant {
                case .begin(let vehicle, _), .link(let vehicle, _): holding.insert(vehicle)
                case .goOn(let vehicle, _):
                    // Its module is heard, or not.
                    if random.chance(0.3) {
                        dispatch.gaveBack(vehicle, at: now)
                        resting.insert(vehicle)
                    } else if dispatch.asksForLink(vehicle) {
                        holding.insert(vehicle)
                    }
                }
            }
            #expect(
                dispatch.adapters.allSatisfy {
                    $0.holders - $0.searchers <= links && $0.searchers < links
                }
            )
            #expect(dispatch.underWay <= adapters * links * 8)
            if let vehicle = holding.sorted().randomElement(using: &random) {
                holding.remove(vehicle)
                if random.chance(0.5) {
                    dispatch.gaveBack(vehicle, at: now)
                    resting.insert(vehicle)
                } else {
                    dispatch.ended(vehicle, at: now)
                    done += 1
                }
            }
            if let vehicle = resting.sorted().randomElement(using: &random), random.chance(0.7) {
                resting.remove(vehicle)
                _ = dispatch.asks(vehicle, .settling)
            }
            // Vehicles that have asked hold an adapter as soon as it is granted to them.
        }
        #expect(done == 60)
        #expect(dispatch.underWay == 0)
    }

    @Test func `with turns switched off a vehicle keeps its adapter`() {
        var dispatch = dispatch([vehicle(-50), vehicle(-60)], overlaps: false)
        _ = dispatch.grants(at: at(0), mostUnderWay: 9)
        dispatch.gaveBack(0, at: at(1))
        #expect(dispatch.grants(at: at(1), mostUnderWay: 9) == [])
        let hasTurn = dispatch.asks(0, .settling)
        #expect(hasTurn)
    }

    @Test func `a lost adapter's vehicles go on with another one`() {
        var first = vehicle(-50)
        first.signals = [0: -50]
        var dispatch = dispatch([first, vehicle(-60)], adapters: 2)
        #expect(dispatch.grants(at: at(0), mostUnderWay: 9) == [.begin(vehicle: 0, adapter: 0)])
        dispatch.lost(0)
        dispatch.gaveBack(0, at: at(1))
        _ = dispatch.asks(0, .next)
        #expect(dispatch.grants(at: at(2), mostUnderWay: 9) == [.goOn(vehicle: 0, adapter: 1)])
        dispatch.ended(0, at: at(3))
        #expect(dispatch.grants(at: at(3), mostUnderWay: 9) == [], "heard by the lost one alone")
        dispatch.heard(1, on: 1, signal: -70)
        #expect(dispatch.grants(at: at(4), mostUnderWay: 9) == [.begin(vehicle: 1, adapter: 1)])
    }

    @Test func `an adapter that is plugged in takes part`() {
        var dispatch = dispatch([vehicle(nil), vehicle(nil)])
        let new = dispatch.plugged("hci7")
        dispatch.heard(1, on: new, signal: -44)
        #expect(dispatch.grants(at: at(0), mostUnderWay: 9) == [.begin(vehicle: 1, adapter: new)])
    }

    @Test
    func `a vehicle that is not heard is missing once every adapter has listened long enough`() {
        var dispatch = dispatch([vehicle(nil), vehicle(-50)], adapters: 2)
        #expect(dispatch.idleEars() == [0, 1])
        dispatch.listens(0)
        #expect(dispatch.idleEars() == [1])
        dispatch.listened(0, for: .seconds(30))
        #expect(dispatch.missing(after: .seconds(30)) == [])
        dispatch.listened(1, for: .seconds(29))
        #expect(dispatch.missing(after: .seconds(30)) == [])
        dispatch.listened(1, for: .seconds(1))
        #expect(dispatch.missing(after: .seconds(30)) == [0])
        dispatch.lost(1)
        dispatch.heard(0, on: 0, signal: -80)
        #expect(dispatch.missing(after: .seconds(30)) == [])
        #expect(dispatch.idleEars() == [])
    }

    /// On a real adapter, a scan may hear nothing for longer than the other adapter needs to hear all.
    @Test func `an adapter that has heard none of those that wait listens until it has work`() {
        var dispatch = dispatch([vehicle(-50), vehicle(-60), vehicle(-70)], adapters: 2)
        dispatch.listens(0)
        dispatch.listened(0, for: .seconds(1))
        dispatch.listens(1)
        #expect(!dispatch.hasToHear(0) && dispatch.hasToHear(1))
        dispatch.listened(1, for: .seconds(1))
        #expect(dispatch.grants(at: at(1), mostUnderWay: 9) == [.begin(vehicle: 0, adapter: 0)])
        #expect(dispatch.idleEars() == [1])
        dispatch.listens(1)
        dispatch.heard(2, on: 1, signal: -80)
        #expect(!dispatch.hasToHear(1) && dispatch.hasWork(1, mayBegin: true))
        dispatch.listened(1, for: .seconds(2))
        #expect(dispatch.grants(at: at(3), mostUnderWay: 9) == [.begin(vehicle: 2, adapter: 1)])
        dispatch.ended(2, at: at(9))
        #expect(dispatch.idleEars() == [1])
        dispatch.ended(1, at: at(9))
        #expect(dispatch.idleEars() == [], "nobody waits")
    }
}
