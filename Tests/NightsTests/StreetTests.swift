import Base
import Nights
import Testing

/// Gateways along a street of modules, in virtual time over a real PostgreSQL: who takes which vehicle.
@Suite(.enabled(if: FleetNightGround.absence == nil, "PostgreSQL is not installed"), .serialized)
struct StreetTests {
    /// The first half is near the first gateway, the second half near the second one.
    private func street(_ count: Int, near: Int = -50, far: Int = -75) -> FleetStreet {
        let modules = (0..<count).map { number in
            var module = FleetStreet.Module(number < count / 2 ? [near, far] : [far, near])
            module.imageSize = 24 * 1_024
            return module
        }
        var street = FleetStreet(seed: 5, modules, gateways: 2)
        street.policy = "radio: {links-per-adapter: 1}"
        return street
    }

    private func expectAll(_ account: FleetStreet.Account) {
        #expect(account.faults == 0)
        for (number, verdict) in account.verdicts.enumerated() {
            #expect(verdict.outcome == "succeeded", "v\(number + 1) of \(verdict.gateway)")
        }
    }

    @Test func `each vehicle goes to the gateway that hears it best`() throws {
        let account = try street(16).live()
        expectAll(account)
        let first = account.verdicts.prefix(8).count { $0.gateway == "g1" }
        let second = account.verdicts.suffix(8).count { $0.gateway == "g2" }
        // Whoever is done first may help out.
        #expect(first + second >= 14, "\(account.verdicts)")
    }

    @Test func `a gateway that has nothing else to do takes what a busy one hears better`() throws {
        let near = (0..<16).map { _ in
            var module = FleetStreet.Module([-50, -75])
            module.imageSize = 24 * 1_024
            return module
        }
        let equal = near.map { module in
            var module = module
            module.signals = [-50, -50]
            return module
        }
        func took(_ modules: [FleetStreet.Module]) throws -> FleetStreet.Account {
            var street = FleetStreet(seed: 6, modules, gateways: 2)
            street.policy = "radio: {links-per-adapter: 1}"
            return try street.live()
        }
        let (uneven, even) = (try took(near), try took(equal))
        expectAll(uneven)
        expectAll(even)
        #expect(uneven.count(of: 1) >= 6, "\(uneven.verdicts)")
        #expect(uneven.took * 100 <= even.took * 115, "\(uneven.took.brief), \(even.took.brief)")
    }

    /// The modules of `scripts/bench makespan`, in virtual time.
    @Test func `four gateways need at most a tenth more than their adapters do`() throws {
        let modules = (1...200).map { number in
            var module = FleetStreet.Module(.init(repeating: -(45 + number * 7 % 40), count: 4))
            module.imageSize = number.isMultiple(of: 3) ? 205_426 : 98_930
            module.interval = 15 * (1 + number * 5 % 4)
            module.restart = .milliseconds(1_000 + number * 137 % 9_000)
            module.activation = .seconds(2 + number * 11 % 20)
            return module
        }
        var street = FleetStreet(seed: 3, modules, gateways: 4)
        street.policy = "radio: {links-per-adapter: 1}"
        let account = try street.live()
        expectAll(account)
        let bound = account.linked / 4
        #expect(account.took * 100 <= bound * 110, "\(account.took.brief) of \(bound.brief)")
    }

    @Test(arguments: [FleetStreet.Incident.drain, .kill])
    func `vehicles go to another gateway when the nearest takes no more`(
        _ what: FleetStreet.Incident
    ) throws {
        var street = street(12)
        street.incidents = [(second: 40, gateway: 0, what: what)]
        let account = try street.live()
        expectAll(account)
        #expect(account.verdicts.count { $0.gateway == "g2" } >= 9, "\(account.verdicts)")
    }

    @Test func `a gateway at which attempts fail gives its vehicles away`() throws {
        var street = street(8)
        // Its links break, however well it hears.
        street.broken = [0]
        let account = try street.live()
        expectAll(account)
        #expect(account.verdicts.allSatisfy { $0.gateway == "g2" })
        // Nobody uses up the attempts of a vehicle on one gateway.
        for vehicle in 0..<4 {
            let tries = account.begun.count { $0.gateway == 0 && $0.vehicle == vehicle }
            #expect((1...3).contains(tries), "v\(vehicle + 1): \(account.begun)")
        }
    }

    @Test func `attempts that fail everywhere end like those of one gateway`() throws {
        var street = street(4)
        street.broken = [0, 1]
        street.policy += "\nrollout: {retry: {transient: 3}}"
        let account = try street.live()
        for (vehicle, verdict) in account.verdicts.enumerated() {
            #expect(verdict.outcome == "failed")
            // An attempt is not made again by the next gateway as if there had been none.
            #expect(account.begun.count { $0.vehicle == vehicle } == 4, "v\(vehicle + 1)")
            let gateways = Set(account.begun.filter { $0.vehicle == vehicle }.map(\.gateway))
            #expect(gateways.count == 2, "v\(vehicle + 1)")
        }
    }

    @Test func `a vehicle that its gateway does not hear any more is another one's`() throws {
        var street = street(4)
        // The first gateway hears v1 for its first look around only.
        street.leaves = [.init(vehicle: 0, gateway: 0, second: 1)]
        let account = try street.live()
        expectAll(account)
        #expect(account.verdicts[0].gateway == "g2", "\(account.ends)")
    }
}
