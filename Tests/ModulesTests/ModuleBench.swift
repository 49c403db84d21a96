import Base
import Families
import Radio
import Simulation
import Testing

/// Simulated modules on one adapter, and the means to connect to them.
struct ModuleBench: Sendable {
    let simulation: Simulation
    let plans: [ModulePlan]

    init(seed: UInt64 = 1, _ plans: [ModulePlan]) {
        simulation = Simulation(seed: seed)
        self.plans = plans
    }

    static let keyText = String(repeating: "11", count: 20)

    static var secret: Secret { Secret(Array(keyText.utf8)) }

    static func serial(_ number: Int) -> Serial {
        sure(Serial(bytes: [0, 0xA0, 0, 0, 0, 0] + UInt16(number).bigBytes))
    }

    /// A module as most tests need it, by its number; `change` sets its special properties.
    static func module(
        _ number: Int = 1,
        _ change: (inout ModulePlan) -> Void = { _ in }
    ) -> ModulePlan {
        var plan = ModulePlan(serial: serial(number))
        plan.key = [UInt8](repeating: 0x11, count: 20)
        plan.firmwareType = 17
        plan.version = FirmwareVersion(4, 11, 3)
        plan.link.interval = .microseconds(7_500)
        change(&plan)
        return plan
    }

    static func faulty(_ faults: ModulePlan.Fault...) -> ModulePlan {
        module { $0.faults = faults }
    }

    var time: any Timekeeper { simulation.time }
    var central: SimulatedRadio { SimulatedRadio(adapter: "hci0", air: simulation.air) }

    /// Runs a body with all modules on the air, and throws the error that the body throws.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (ModuleBench) async throws -> R
    ) throws -> R {
        try simulation.run { () async -> Result<R, any Error> in
            await simulation.air.addAdapter("hci0")
            let plans = plans
            await simulation.air.arrange { world in
                for plan in plans { world.add(plan) }
            }
            do { return .success(try await body(self)) } catch { return .failure(error) }
        }.get()
    }

    /// Changes a module's settings, as its rider would at the vehicle.
    func set(_ number: Int = 1, _ change: @escaping @Sendable (inout VehicleSettings) -> Void)
        async
    {
        await simulation.air.arrange { $0.modules(ComoduleModule.self)[number - 1].set(change) }
    }

    func settings(_ number: Int = 1) async -> VehicleSettings {
        await simulation.air.arrange { $0.modules(ComoduleModule.self)[number - 1].settings }
    }

    /// An authenticated link to a module.
    func client(_ number: Int = 1) async throws -> ComoduleClient {
        let seeker = ModuleSeeker(central: central, time: time)
        let deadline = time.now.advanced(by: .seconds(30))
        let sighting = try #require(
            try await seeker.seek(
                Self.serial(number),
                by: ComoduleUpdate(key: try ComoduleKey(Self.secret)).recogniser,
                before: deadline,
                unless: { false }
            )
        )
        let link = try await central.connect(to: sighting.peer, before: deadline)
        let client = ComoduleClient(link: link, time: time)
        try await client.authenticate(ComoduleKey(Self.secret))
        return client
    }

    func properties(_ number: Int = 1) async throws -> ComoduleProperties {
        ComoduleProperties(client: try await client(number), profile: genericProfile, time: time)
    }
}

/// The profile of most modules in the tests.
let genericProfile = sure(ProfileLibrary.shipped.profile(Profile.generic, of: .comodule))

/// Unwraps a constant of the tests that is obviously valid.
func sure<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("a constant of the tests is wrong") }
    return value
}
