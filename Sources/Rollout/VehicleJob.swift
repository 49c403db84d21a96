package import Base
package import Families
package import Manifest
package import Radio
import Store

/// All the work on one vehicle, with everything that it needs: no name is left to look up.
package struct VehicleJob: Sendable {
    package let vehicle: VehicleID
    package let serial: Serial
    /// The verdict when the plan's devices are no longer the vehicle's; nil where they are.
    var exchanged: Closing?
    /// How its module is heard, opened and updated.
    package let driver: any UpdateDriver
    /// The token for commands to its GO device.
    package let carShare: TokenSupply?
    /// The keeper of its module's secret; nil when the secret cannot be changed.
    package let secret: ModuleSecretChange?
    /// What gives its module wrong answers before a verdict without an update; nil where the
    /// profile allows none.
    package let challenge: ModuleChallenge?
    /// The bond policy for its module, or for its GO device when it has no other module.
    package let bond: BondPolicy
    /// The times that its profile sets for an update.
    package let times: ProfileTimes
    package let steps: [JobStep]
    /// Done at the end, whatever happened.
    package let always: [JobStep]

    package init(
        vehicle: VehicleID,
        serial: Serial,
        driver: any UpdateDriver,
        carShare: TokenSupply? = nil,
        secret: ModuleSecretChange? = nil,
        challenge: ModuleChallenge? = nil,
        bond: BondPolicy = .unbonded,
        times: ProfileTimes = ProfileTimes(),
        steps: [JobStep],
        always: [JobStep] = []
    ) {
        self.vehicle = vehicle
        self.serial = serial
        self.driver = driver
        self.carShare = carShare
        self.secret = secret
        self.challenge = challenge
        self.bond = bond
        self.times = times
        self.steps = steps
        self.always = always
    }

    /// A vehicle with a Comodule module.
    package init(vehicle: VehicleID, serial: Serial, key: ComoduleKey, steps: [JobStep]) {
        self.init(
            vehicle: vehicle,
            serial: serial,
            driver: ComoduleUpdate(key: key),
            steps: steps
        )
    }

    /// The image that failures are counted for: the first one that the job installs.
    package var release: SHA256Digest? {
        for case .update(let update) in steps { return update.digest }
        return nil
    }

    /// Whether a module has to be heard before work begins: a GO device connects on its own.
    var isHeard: Bool {
        driver.recogniser.form != nil && (steps + always).contains { $0.needsModule }
    }

    var hasUpdates: Bool {
        steps.contains { step in
            if case .update = step { return true }
            return false
        }
    }
}

extension [VehicleJob] {
    /// The families of the modules that are updated.
    package var updatedFamilies: Set<Family> { Set(filter(\.hasUpdates).map(\.driver.family)) }
}

/// One step, ready to be done: its names and values are those of the vehicle's profile.
package enum JobStep: Sendable {
    case require([Precondition], otherwise: Otherwise)
    case update(UpdateJob)
    case read([String])
    case set([PropertyOrder])
    case expect([PropertyTest], within: Duration)
    case feature([FeatureOrder])
    case command(CarShareCommands)
    case wait(Duration)
    /// Gives the module another secret.
    case rotate

    /// Whether it needs the module.
    var needsModule: Bool {
        switch self {
        case .require(let preconditions, _): preconditions.contains(where: \.needsModule)
        case .update, .read, .set, .expect, .feature, .rotate: true
        case .command, .wait: false
        }
    }

    /// The step as a manifest writes it.
    package var action: String {
        switch self {
        case .require(let preconditions, _):
            "require "
                + preconditions.map { "\($0.name) \($0.required)" }.joined(separator: ", ")
        case .update(let update): "update to \(update.name)"
        case .read(let names): "read \(names.joined(separator: ", "))"
        case .set(let orders):
            "set " + orders.map { "\($0.name)=\($0.value.text)" }.joined(separator: ", ")
        case .expect(let tests, _): "expect \(Self.text(tests))"
        case .feature(let orders):
            "feature " + orders.map { "\($0.spec.name)=\($0.shown)" }.joined(separator: ", ")
        case .command(let commands):
            "command " + commands.list.map(\.rawValue).joined(separator: ", ")
        case .wait(let duration): "wait \(duration.brief)"
        case .rotate: "rotate secret"
        }
    }

    private static func text(_ tests: [PropertyTest]) -> String {
        tests.map { "\($0.property) \($0)" }.joined(separator: ", ")
    }
}

/// A property and the value that it is to have.
package struct PropertyOrder: Sendable, Equatable {
    package let name: String
    package let value: PropertyValue

    package init(_ name: String, _ value: PropertyValue) {
        self.name = name
        self.value = value
    }
}

extension FeatureOrder {
    /// The value for people, without free text, which may be a password.
    fileprivate var shown: String {
        switch spec.payload {
        case .none, .boolean, .byte, .states: literal
        case .text, .texts: Self.hidden
        }
    }

    /// What stands for a free text.
    static let hidden = "…"

    /// What distinguishes its text from another one.
    var digest: String? {
        shown == Self.hidden ? SHA256.digest(of: Array(literal.utf8)).description : nil
    }
}
