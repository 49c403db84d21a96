import Base
import Store
import Testing

/// People's verbs on a store: the journal of one machine and a fleet's tables are held to the same tables, those of
/// `docs/promises.md` §6.
@Suite struct VerbContractTests {
    private typealias Yard = StoreYard
    private typealias Standing = StoreYard.Standing

    /// What the verb changes about a vehicle, and its answer; nil when it says that it changes nothing.
    private struct Effect: Sendable {
        let change: @Sendable (inout StoreYard.Account) -> Void
        var refusal: String?
        var isAnswer = true

        static let none = Effect(change: { _ in }, isAnswer: false)

        static func refused(_ why: String) -> Effect {
            Effect(change: { _ in }, refusal: why, isAnswer: false)
        }
    }

    private func effect(_ verb: StoreYard.Verb, _ standing: Standing) -> Effect {
        let again = Effect { $0.verdict = nil }
        switch verb {
        case .retry:
            switch standing {
            case .failed, .indebted, .owing: return again
            case .withoutVerdict, .atWork, .atWorkOwing, .done, .inDoubt, .inhibited, .quarantined:
                return .none
            }
        case .retryVehicle:
            switch standing {
            case .failed, .indebted, .owing: return again
            case .inDoubt: return Effect { ($0.verdict, $0.doubts) = (nil, 0) }
            case .inhibited: return .refused("inhibited is left: it is inhibited")
            case .quarantined: return .refused("quarantined is left: it is in quarantine")
            case .withoutVerdict, .atWork, .atWorkOwing, .done: return .none
            }
        case .inhibit: return Effect { $0.inhibits = 1 }
        case .uninhibit: return standing == .inhibited ? Effect { $0.inhibits = 0 } : .none
        case .clear:
            switch standing {
            case .atWorkOwing: return .refused("busy")
            case .inDoubt: return Effect { $0.doubts = 0 }
            case .indebted: return Effect { $0.debts = 0 }
            case .owing: return Effect { $0.owed = 0 }
            case .failed, .quarantined: return Effect { $0.failures = 0 }
            case .withoutVerdict, .atWork, .done, .inhibited: return .none
            }
        }
    }

    @Test(arguments: Store.present, StoreYard.Verb.allCases)
    func `each verb on a vehicle does the same in either store`(
        store: Store,
        verb: StoreYard.Verb
    ) async throws {
        try await Yard.with(store) { yard in
            var accounts = try await yard.accounts()
            if verb == .retry {
                let rearmed = try await yard.retry(nil)
                let taken = Standing.allCases.filter { effect(verb, $0).isAnswer }
                #expect(Set(rearmed.vehicles.map(\.text)) == Set(taken.map(\.rawValue)))
                #expect(rearmed.doubtful == [try Yard.id(.inDoubt)] && rearmed.answered.isEmpty)
                for standing in taken { accounts[standing]?.verdict = nil }
                #expect(try await yard.accounts() == accounts)
                #expect(try await yard.retry(nil).all.isEmpty, "nothing is left to be taken")
                return
            }
            for standing in Standing.allCases {
                let (vehicle, effect) = (try Yard.id(standing), effect(verb, standing))
                var account = try #require(accounts[standing])
                effect.change(&account)
                accounts[standing] = account
                var (isAnswer, refusal) = (true, String?.none)
                switch verb {
                case .retry: break
                case .retryVehicle:
                    let rearmed = try await yard.retry(vehicle)
                    isAnswer = rearmed.all == [vehicle]
                    refusal = rearmed.refusal
                    #expect(rearmed.answered == (standing == .inDoubt ? [vehicle] : []))
                    #expect(rearmed.rollouts == (effect.isAnswer ? ["city"] : []))
                case .inhibit: try await yard.inhibit(vehicle, "brakes")
                case .uninhibit: isAnswer = try await yard.uninhibit(vehicle)
                case .clear:
                    let cleared = try await yard.clear(vehicle)
                    isAnswer = cleared.atWork == nil && !(cleared == Cleared())
                    refusal = cleared.atWork.map { _ in "busy" }
                    #expect(cleared.answered == (standing == .inDoubt ? [vehicle] : []))
                    #expect(cleared.debts.map(\.name) == (standing == .indebted ? ["city"] : []))
                    #expect(
                        cleared.owed.map(\.action) == (standing == .owing ? ["command lock"] : [])
                    )
                }
                #expect(isAnswer == effect.isAnswer, "\(standing)")
                #expect(
                    refusal == nil && effect.refusal == nil
                        || refusal?.hasPrefix(effect.refusal ?? "-") == true,
                    "\(standing): \(refusal ?? "no refusal")"
                )
                #expect(try await yard.accounts() == accounts, "\(standing), and no other vehicle")
            }
        }
    }

    @Test(arguments: Store.present)
    func `a doubt is answered in full name only, and stays otherwise, in either store`(store: Store)
        async throws
    {
        try await Yard.with(store, [.inDoubt]) { yard in
            let vehicle = try Yard.id(.inDoubt)
            let cleared = try await yard.clear(vehicle, isNamed: false)
            #expect(cleared.stillInDoubt == [vehicle] && cleared.answered.isEmpty)
            #expect(try await yard.account(.inDoubt)?.doubts == 1)
        }
    }

    /// A step of a rollout's life, with the answer that each store gives.
    enum Step: Sendable {
        case pause(VerbAnswer), abort(VerbAnswer), resume(VerbAnswer), retry(Hold.Kind?)
        case recall(VerbAnswer)
        case finish
    }

    private static let forGood = VerbAnswer.refused(Hold.abortedForGood)
    private static let recalled = VerbAnswer.refused(Hold.recalledForGood)

    @Test(
        arguments: Store.present,
        [
            // Open, paused, and open again.
            [
                .resume(.noChange("it is not paused")), .retry(nil), .pause(.done),
                .pause(.noChange("it is paused already")), .retry(.paused), .resume(.done),
                .resume(.noChange("it is not paused")),
            ],
            // Aborted from a pause, for good.
            [
                .pause(.done), .abort(.done), .abort(.noChange("it is aborted already")),
                .pause(.refused("it is aborted")), .resume(forGood), .retry(.aborted),
            ],
            [.abort(.done), .retry(.aborted), .resume(forGood)],
            // Finished: a pause holds the next beginning, and an abort comes too late.
            [
                .finish, .abort(.refused("it is finished")), .resume(.noChange("it is not paused")),
                .pause(.done), .abort(.done), .resume(forGood),
            ],
            [.finish, .retry(nil), .abort(.done)],
            // Recalled from any state, for good.
            [
                .finish, .recall(.done), .recall(.noChange("it is recalled already")),
                .pause(.refused("it is recalled")), .abort(.refused("it is recalled")),
                .resume(recalled), .retry(.recalled),
            ],
            [.abort(.done), .recall(.done), .resume(recalled)],
            [.pause(.done), .recall(.done), .retry(.recalled)],
        ] as [[Step]]
    )
    func `each verb on a rollout is answered the same in either store`(
        store: Store,
        steps: [Step]
    ) async throws {
        try await Yard.with(store, [.failed]) { yard in
            var kind: Hold.Kind?
            for (number, step) in steps.enumerated() {
                let before = try await yard.account(.failed)
                switch step {
                case .pause(let answer):
                    #expect(try await yard.hold(.paused) == answer, "step \(number)")
                    if answer == .done { kind = .paused }
                case .abort(let answer):
                    #expect(try await yard.hold(.aborted) == answer, "step \(number)")
                    if answer == .done { kind = .aborted }
                case .recall(let answer):
                    #expect(try await yard.hold(.recalled) == answer, "step \(number)")
                    if answer == .done { kind = .recalled }
                case .resume(let answer):
                    #expect(try await yard.resume() == answer, "step \(number)")
                    if answer == .done { kind = nil }
                case .retry(let hold):
                    // Named and not named, a rollout that is aborted keeps its verdicts.
                    for vehicle in [nil, try Yard.id(.failed)] {
                        let rearmed = try await yard.retry(vehicle)
                        #expect(rearmed.hold == hold, "step \(number)")
                        if hold?.isForGood == true {
                            #expect(
                                rearmed.refusal == Hold.refusal(under: hold) && rearmed.all.isEmpty
                            )
                            #expect(try await yard.account(.failed) == before)
                        }
                    }
                case .finish: try await yard.finish()
                }
                let hold = try await yard.hold
                #expect(hold?.kind == kind, "step \(number)")
                #expect(kind == nil || hold?.author == "mia" && hold?.reason == "rain")
            }
        }
    }

    @Test(arguments: Store.present, [true, false])
    func `only the pause of a wave that has ended lets resume begin the next wave`(
        store: Store,
        isByWave: Bool
    ) async throws {
        try await Yard.with(store, [.done]) { yard in
            try await yard.endWave()
            if isByWave {
                try await yard.stopAfterWave()
            } else {
                #expect(try await yard.hold(.paused) == .done)
            }
            let hold = try #require(try await yard.hold)
            #expect(hold.kind == .paused && hold.isByGate == isByWave)
            #expect(try await yard.resume() == .done)
            #expect(try await yard.hold == nil)
            let wave = try await yard.wave
            #expect(wave.number == (isByWave ? 1 : 0))
            #expect(wave.isOver == !isByWave, "the rest of the soak")
        }
    }

    @Test(arguments: Store.present)
    func `an inhibition holds until it expires or is lifted`(store: Store) async throws {
        try await Yard.with(store, [.done]) { yard in
            let bus = try Yard.id(.done)
            try await yard.inhibit(bus, "workshop", for: .seconds(100))
            try await yard.inhibit(nil, "survey")
            #expect(try await yard.inhibits(after: .seconds(50)) == ["survey", "workshop"])
            #expect(try await yard.inhibits(after: .seconds(100)) == ["survey"])
            try await yard.inhibit(bus, "again")
            #expect(try await yard.inhibits(after: .seconds(200)) == ["survey", "again"])
            #expect(try await yard.uninhibit(nil))
            #expect(try await !yard.uninhibit(nil))
            #expect(try await yard.inhibits(after: .seconds(200)) == ["again"])
        }
    }

    @Test(
        arguments: Store.present,
        [
            (nil, .paused), (nil, .aborted), (.paused, .paused), (.paused, .aborted),
            (.aborted, .paused), (.aborted, .aborted),
        ] as [(Hold.Kind?, Hold.Kind)]
    )
    func `of a gate's hold and a person's the graver one counts, and both are told`(
        store: Store,
        kinds: (person: Hold.Kind?, gate: Hold.Kind)
    ) async throws {
        try await Yard.with(store, [.atWork], gate: kinds.gate) { yard in
            if let kind = kinds.person { #expect(try await yard.hold(kind) == .done) }
            try await yard.trip(kinds.gate)
            let hold = try #require(try await yard.hold)
            let isGates = kinds.person == nil || (kinds.person, kinds.gate) == (.paused, .aborted)
            #expect(hold.kind == (isGates ? kinds.gate : kinds.person))
            #expect(hold.author == (isGates ? Hold.gate : "mia"))
            let words = "the gate: 1 of 1 attempted have failed, at most 0 may"
            let reason =
                kinds.person == nil
                ? words
                : isGates ? "\(words); before that, by mia: rain" : "rain; then, by gate: \(words)"
            #expect(hold.reason == reason)
            #expect(try await yard.resume() == (hold.kind == .paused ? .done : Self.forGood))
        }
    }
}
