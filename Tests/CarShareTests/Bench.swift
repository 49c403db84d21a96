import Base
import Families
import Radio
import Samples
import Simulation
import Synchronization
import Testing

/// A vehicle in simulated air, a token for it, and the results of the commands.
struct CarShareBench: Sendable {
    static let hardwareID: UInt32 = 553_845_661

    let simulation: Simulation
    let plan: GOPlan
    let credentials: CarShareCredentials
    let notes = Notes()
    var limits = CarShareLimits()
    /// With the passkey of the vehicle, so that its answers are its own.
    var bond = BondPolicy(Passkey(123_456).map { .passkey($0) } ?? .none)

    /// Collects the notes of the sessions.
    final class Notes: Sendable {
        private let list = Mutex<[CarShareNote]>([])

        var all: [CarShareNote] { list.withLock { $0 } }
        func add(_ note: CarShareNote) { list.withLock { $0.append(note) } }
    }

    static let issuer = GOTokenIssuer(tenant: Keys.tenant, reservation: Keys.reservation)

    /// Shortly before the time at which simulations begin.
    static let start = Simulation.firstEvening.advanced(by: .seconds(-3_600))
    static let end = Simulation.firstEvening.advanced(by: .seconds(86_400 * 30))

    static func reservation() throws -> CarShareReservation {
        try #require(issuer).reservation(hardwareID: hardwareID, from: start, until: end)
    }

    static func token(
        _ change: (inout CarShareReservation) -> Void = { _ in },
        parts: (inout GOTokenIssuer.Parts) -> Void = { _ in }
    ) throws -> Secret {
        var reservation = try reservation()
        change(&reservation)
        let issuer = try #require(issuer)
        let token = issuer.token(reservation, parts)
        return try #require(token)
    }

    init(
        seed: UInt64 = 1,
        token: Secret? = nil,
        _ change: (inout GOPlan) -> Void = { _ in }
    ) throws {
        simulation = Simulation(seed: seed)
        let serial = try #require(Serial("G9-0001"))
        var plan = GOPlan(serial: serial, hardwareID: Self.hardwareID)
        plan.tenants = [try #require(Self.issuer).modulus]
        change(&plan)
        self.plan = plan
        credentials = try CarShareCredentials(text: token ?? Self.token())
    }

    init(seed: UInt64 = 1, faults: [GOPlan.Fault.Kind]) throws {
        try self.init(seed: seed) { $0.faults = faults.map { GOPlan.Fault($0) } }
    }

    var vehicle: CarShareVehicle {
        CarShareVehicle(
            peripheral: SimulatedRadio(adapter: "hci0", air: simulation.air),
            credentials: credentials,
            bond: bond,
            time: simulation.time,
            limits: limits,
            notes: notes.add
        )
    }

    func setUp() async {
        await simulation.air.addAdapter("hci0")
        let plan = plan
        await simulation.air.arrange { world in world.add(plan) }
    }

    /// What the simulated device did, and its state.
    struct Seen: Sendable {
        let executed: [CarShareCommands]
        let received: Int
        let links: Int
        let vehicle: GOPlan.Vehicle
    }

    func seen() async -> Seen {
        await simulation.air.arrange { world in
            let device = world.visitors.lazy.compactMap { $0 as? GODevice }.first
            return Seen(
                executed: device?.executed ?? [],
                received: device?.commandsReceived ?? 0,
                links: device?.links ?? 0,
                vehicle: device?.vehicle ?? GOPlan.Vehicle()
            )
        }
    }

    typealias Outcome = Result<CarShareReport, CarShareError>

    /// Sends commands one after the other, each on its own link.
    func send(_ commands: CarShareCommands...) throws -> (outcomes: [Outcome], seen: Seen) {
        try simulation.run { [self] in
            await setUp()
            var outcomes: [Outcome] = []
            for command in commands { outcomes.append(await attempt(command)) }
            // The vehicle finishes its remaining work.
            await simulation.time.sleep(for: .seconds(120), "the vehicle to come to rest")
            return (outcomes, await seen())
        }
    }

    func attempt(_ commands: CarShareCommands, before: Moment? = nil) async -> Outcome {
        do throws(CarShareError) {
            return .success(try await vehicle.send(commands, before: before))
        } catch { return .failure(error) }
    }

    /// Sends commands one after the other on one link.
    func sendOnOneLink(
        _ commands: CarShareCommands...
    ) throws -> (outcomes: [Outcome], seen: Seen) {
        try simulation.run { [self] in
            await setUp()
            let outcomes: [Outcome]
            do throws(CarShareError) {
                outcomes = try await vehicle.withLink { link in
                    var outcomes: [Outcome] = []
                    for command in commands {
                        do throws(CarShareError) {
                            outcomes.append(.success(try await link.send(command)))
                        } catch { outcomes.append(.failure(error)) }
                    }
                    return outcomes
                }
            } catch { outcomes = [.failure(error)] }
            await simulation.time.sleep(for: .seconds(120), "the vehicle to come to rest")
            return (outcomes, await seen())
        }
    }
}

extension CarShareBench.Outcome {
    var error: CarShareError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var isSuccess: Bool { error == nil }
}

extension [CarShareBench.Outcome] {
    var allSucceeded: Bool { !isEmpty && allSatisfy { $0.isSuccess } }
}
