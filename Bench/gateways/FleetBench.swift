import Base
import Foundation
import Store

/// Measures rights and verdicts with a real PostgreSQL, through the same calls as a run.
///
///     fleet-bench rates ADDRESS SECONDS    full speed: 32 gateways, 10,000 vehicles
///     fleet-bench need ADDRESS SECONDS     a claim at ten times the need
///     fleet-bench scale ADDRESS ROUNDS     a claim among 100,000 vehicles beside one among 1,000
///     fleet-bench waves ADDRESS SECONDS    a claim at ten times the need, in waves
///     fleet-bench sign ADDRESS ROUNDS      sign-ins in a database that is there
///     fleet-bench night ADDRESS SHAPE      a night at full speed of DEPOTSxGATEWAYSxVEHICLES, as in 50x10x2000
///
/// Prints rows of a table. Ends with 1 when a promise is missed by a factor of two or more.
@main
enum FleetBench {
    static let gateways = 32
    static let links = 8
    /// The need of 32 gateways with eight links, when a vehicle takes some minutes.
    static let need = 1.0

    static func main() async {
        let arguments = CommandLine.arguments
        let shape = arguments.count == 4 ? NightShape(arguments[3]) : nil
        guard let shape else {
            print("usage: fleet-bench rates|need|scale|waves|sign|night ADDRESS AMOUNT")
            exit(64)
        }
        let amount = shape.vehicles
        do {
            let isKept: Bool
            switch arguments[1] {
            case "rates": isKept = try await rates(arguments[2], seconds: amount)
            case "need": isKept = try await latency(arguments[2], seconds: amount)
            case "scale": isKept = try await scale(arguments[2], rounds: amount)
            case "waves": isKept = try await waves(arguments[2], seconds: amount)
            case "sign": isKept = try await signIns(arguments[2], rounds: amount)
            case "night": isKept = try await night(arguments[2], shape)
            default: exit(64)
            }
            exit(isKept ? 0 : 1)
        } catch {
            print("fleet-bench: \(error)")
            exit(70)
        }
    }

    // MARK: Full speed

    static func rates(_ address: String, seconds: Int) async throws -> Bool {
        try await Crew.with(gateways, address) { crew in
            let rollout = try await BenchRollout.begin(
                "city",
                10_000,
                as: crew.all[0],
                atWork: crew.all
            )
            let time = Duration.seconds(seconds)
            // The two cycles share the vehicles: each measures its own half.
            let half = rollout.vehicles.count / 2
            let plain = try await cycles(crew, rollout, 0..<half, for: time, isWhole: false)
            row("claims with verdicts a second", plain.rate, atLeast: 100)
            row("  of them the claim, p50, ms", plain.claims.share(0.5), "")
            row("  of them the claim, p95, ms", plain.claims.share(0.95), "")
            let whole = try await cycles(
                crew,
                rollout,
                half..<rollout.vehicles.count,
                for: time,
                isWhole: true
            )
            row("vehicles a second with all that a run asks for one", whole.rate, "")
            let one = try await beats(crew, of: 1, for: time)
            row("renewals a second, one right in each", one, atLeast: 2_000)
            let eight = try await beats(crew, of: links, for: time)
            row("rights renewed a second, eight in a renewal", eight * Double(links), "")
            return plain.rate >= 50 && one >= 1_000
        }
    }

    static func cycles(
        _ crew: Crew,
        _ rollout: BenchRollout,
        _ range: Range<Int>,
        for time: Duration,
        isWhole: Bool
    ) async throws -> (rate: Double, claims: Spread) {
        let began = Clock.now()
        let end = began.advanced(by: time)
        let found = try await crew.together { number, gateway in
            var claims: [Double] = []
            var index = range.lowerBound + number
            while index < range.upperBound, Clock.now() < end {
                let asked = Clock.now()
                let lease = try await rollout.claim(index, as: gateway)
                claims.append(Clock.milliseconds(since: asked))
                if isWhole { try await rollout.intend(index, lease, as: gateway) }
                try await rollout.settle(index, lease, as: gateway)
                index += FleetBench.gateways
            }
            return claims
        }
        let took = Clock.milliseconds(since: began) / 1_000
        let claims = Spread(found.flatMap { $0 })
        return (Double(claims.count) / took, claims)
    }

    static func beats(_ crew: Crew, of count: Int, for time: Duration) async throws -> Double {
        let began = Clock.now()
        let end = began.advanced(by: time)
        let done = try await crew.together { number, gateway in
            let leases = try await holdings(number, count, gateway)
            var done = 0
            while Clock.now() < end {
                let kept = try await gateway.fleet.renew(
                    leases,
                    of: gateway.holder,
                    terms: .standard
                )
                guard kept.count == count else { throw BenchError.state("a right was lost") }
                done += 1
            }
            return done
        }
        return Double(done.reduce(0, +)) / (Clock.milliseconds(since: began) / 1_000)
    }

    /// The rights of a gateway outside any rollout, one for each of its links.
    static func holdings(
        _ number: Int,
        _ count: Int,
        _ gateway: BenchGateway,
        _ depot: String = "link"
    ) async throws -> [FleetLease] {
        var leases: [FleetLease] = []
        for link in 1...count {
            guard let serial = Serial("\(depot)-\(number)-\(link)"), let vehicle = VehicleID("any")
            else {
                throw BenchError.state("there is no serial")
            }
            let wish = LeaseWish(serial, rollout: "none", vehicle: vehicle)
            let answer = try await gateway.fleet.claim(wish, by: gateway.holder, terms: .standard)
            guard case .granted(let lease, _) = answer else {
                throw BenchError.state("\(serial): \(answer)")
            }
            leases.append(lease)
        }
        return leases
    }

    // MARK: Ten times the need

    static func latency(_ address: String, seconds: Int) async throws -> Bool {
        try await Crew.with(gateways, address) { crew in
            let rollout = try await BenchRollout.begin(
                "town",
                10_000,
                as: crew.all[0],
                atWork: crew.all
            )
            let rate = 10 * need
            let began = Clock.now()
            let end = began.advanced(by: .seconds(seconds))
            let gap = Duration.seconds(Double(gateways) / rate)
            let found = try await crew.together { number, gateway in
                let leases = try await holdings(number, links, gateway)
                return try await withThrowingTaskGroup(of: [Double].self) { group in
                    // Ten times as often as a gateway renews its rights.
                    group.addTask {
                        while Clock.now() < end {
                            _ = try await gateway.fleet.renew(
                                leases,
                                of: gateway.holder,
                                terms: .standard
                            )
                            _ = try await gateway.fleet.beat(gateway.holder)
                            try await Task.sleep(for: LeaseTerms.standard.beat / 10)
                        }
                        return []
                    }
                    group.addTask {
                        var claims: [Double] = []
                        var index = number
                        var next = began.advanced(by: gap * number / gateways)
                        while next < end {
                            let pause = Clock.now().duration(to: next)
                            if pause > .zero { try await Task.sleep(for: pause) }
                            let asked = Clock.now()
                            let lease = try await rollout.claim(index, as: gateway)
                            claims.append(Clock.milliseconds(since: asked))
                            try await rollout.intend(index, lease, as: gateway)
                            try await rollout.settle(index, lease, as: gateway)
                            index += gateways
                            next = next.advanced(by: gap)
                        }
                        return claims
                    }
                    var claims: [Double] = []
                    for try await part in group { claims += part }
                    return claims
                }
            }
            let claims = Spread(found.flatMap { $0 })
            let name = "a claim at \(Int(rate)) a second (\(claims.count) of them)"
            row("\(name), p50, ms", claims.share(0.5), "")
            row("\(name), p95, ms", claims.share(0.95), "")
            row("\(name), p99, ms", claims.share(0.99), "at most 50")
            return claims.share(0.99) <= 100
        }
    }

    // MARK: Size of the fleet

    static func scale(_ address: String, rounds: Int) async throws -> Bool {
        try await Crew.with(3, address) { crew in
            let gateway = crew.all[0]
            // Another gateway hears every vehicle better, and has no link free.
            let small = try await BenchRollout.begin(
                "few",
                1_000,
                as: gateway,
                atWork: [crew.all[1]],
                signal: -50
            )
            let large = try await BenchRollout.begin(
                "many",
                100_000,
                as: gateway,
                atWork: [crew.all[2]],
                signal: -50
            )
            // In both rollouts, as many vehicles are in work as 32 gateways have links.
            for index in 0..<(gateways * links) {
                _ = try await small.claim(index, as: crew.all[1])
                _ = try await large.claim(index, as: crew.all[2])
            }
            _ = try await gateway.fleet.rows("look at all", "ANALYZE")
            var few: [Double] = []
            var many: [Double] = []
            let room = small.vehicles.count - gateways * links
            for round in 0..<min(rounds, room) {
                if round.isMultiple(of: 100) {
                    for gateway in crew.all { _ = try await gateway.fleet.beat(gateway.holder) }
                }
                let index = gateways * links + round
                // Spread over the whole large rollout, not only its beginning.
                let other = gateways * links + round * ((large.vehicles.count - 300) / room)
                for (rollout, place) in round.isMultiple(of: 2)
                    ? [(small, index), (large, other)] : [(large, other), (small, index)]
                {
                    let asked = Clock.now()
                    let lease = try await rollout.claim(place, as: gateway, hasOthers: false)
                    let took = Clock.milliseconds(since: asked)
                    if rollout.name == "few" { few.append(took) } else { many.append(took) }
                    try await rollout.settle(place, lease, as: gateway)
                }
            }
            let (low, high) = (Spread(few).share(0.5), Spread(many).share(0.5))
            row("a claim among 1,000, median of \(few.count), ms", low, "")
            row("a claim among 100,000, in turn with these, ms", high, "")
            row("  ratio", high / low, "at most 1.2")
            return high / low <= 2.4
        }
    }

    // MARK: Sign-in

    static func signIns(_ address: String, rounds: Int) async throws -> Bool {
        let times = try await Crew.with(1, address) { crew in
            var times: [Double] = []
            for _ in 0..<rounds { times.append(try await signIn(crew.all[0])) }
            return times
        }
        let longest = Spread(times).share(1)
        row("a sign-in with a look at the gateways, longest, ms", longest, "at most 200")
        return longest <= 400
    }

    /// What a run asks for at its beginning, and what `gateways` shows; returns the time in milliseconds.
    private static func signIn(_ gateway: BenchGateway) async throws -> Double {
        let (fleet, holder) = (gateway.fleet, gateway.holder)
        let asked = Clock.now()
        _ = try await fleet.standing()
        _ = try await fleet.signIn(holder, program: "bench", at: WallTime(milliseconds: 0))
        _ = try await fleet.releaseAll(of: holder.instance)
        _ = try await fleet.gateways()
        return Clock.milliseconds(since: asked)
    }

    // MARK: Rows

    static func row(_ name: String, _ value: Double, atLeast promise: Int) {
        row(name, value, "at least \(promise)")
    }

    static func row(_ name: String, _ value: Double, _ promise: String) {
        let digits = value >= 100 ? 0 : 2
        print("| \(name) | \(String(format: "%.\(digits)f", value)) | \(promise) |")
    }
}

/// Sorted values.
struct Spread: Sendable {
    private let values: [Double]

    init(_ values: [Double]) { self.values = values.sorted() }

    var count: Int { values.count }

    /// The value that this share of all values does not exceed.
    func share(_ part: Double) -> Double {
        guard !values.isEmpty else { return .infinity }
        let place = Int((Double(values.count) * part).rounded(.up)) - 1
        return values[min(max(0, place), values.count - 1)]
    }
}
