import Base
import Commands
import Families
import Glibc
import Images
import Manifest
import Radio
import Simulation
import Store

/// The depot of a rehearsal without a depot's file: a module for each vehicle of the fleet list.
struct InventedDepot {
    private let plan: FrozenPlan
    private let profiles: ProfileLibrary
    private let seed: UInt64

    init(_ plan: FrozenPlan, _ profiles: ProfileLibrary, seed: UInt64) {
        (self.plan, self.profiles, self.seed) = (plan, profiles, seed)
    }

    /// The directory of this rehearsal: a new one, in which nothing has run.
    static func state(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> String {
        guard let path = invocation[Command.state] else {
            let above =
                context.variable("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
            return "\(above)/yardmaster-rehearsal-\(getuid())-\(getpid())"
        }
        try RootRule.demand(path, more: "")
        return path
    }

    /// Throws where something has run: a rehearsal begins from the start.
    static func demandNew(_ state: String) throws(CommandError) {
        guard access(state + "/journal.sqlite", F_OK) == 0 else { return }
        throw CommandError(
            .configuration,
            "there are runs in \(state), and a rehearsal with made-up vehicles begins from the start",
            hint: "name another directory with --state, or none"
        )
    }

    /// Takes images that others have fetched: a rehearsal sends no packet.
    static func bringImages(
        of plan: FrozenPlan,
        to state: String,
        _ context: Context
    ) throws(CommandError) {
        let stores = [
            StateLocation.path(flag: nil, environment: context.variable), StateLocation.ofUnits,
        ].compactMap(\.self)
        for image in plan.images {
            let sources = [image.source] + image.mirrors
            let isHere = sources.contains { source in
                if case .file = source { return true }
                return false
            }
            guard !isHere else { continue }
            let found = stores.lazy.compactMap { store in
                let path = StoreFolder(stateDirectory: store).path(of: image.digest)
                return try? TextFile.read(path: path, limit: 1 << 28)
            }.first
            guard let found else {
                throw CommandError(
                    .inputMissing,
                    "the image \(image.name) is not on this machine",
                    because: ["it comes from \(image.source), and a rehearsal sends nothing"],
                    hint: "'yardmaster fetch' brings it into the store of real runs, for this too"
                )
            }
            let path = StoreFolder(stateDirectory: state).path(of: image.digest)
            StateDirectory.makeFolders(above: path)
            try Draft.demand(
                found,
                to: path,
                mode: 0o600,
                .cannotWrite,
                "\(path) cannot be written"
            )
        }
    }

    // MARK: The depot

    func file(isBad: Bool) throws(CommandError) -> DepotFile {
        let diagnostics = Diagnostics()
        let text = text(isBad: isBad)
        guard let tree = SourceNode.parse(Array(text.utf8), file: "the fleet list", diagnostics),
            let file = DepotFile.read(
                tree,
                families: FamilyRegistry.simulated,
                profiles: profiles,
                diagnostics
            )
        else {
            throw CommandError(
                .configuration,
                "no depot can be made up for \(plan.name)",
                because: diagnostics.list.map(\.message),
                hint: "describe one in a file, and use 'yardmaster run --simulate'"
            )
        }
        return file
    }

    private func text(isBad: Bool) -> String {
        var random = SplitMix64(seed: seed)
        let adapters = plan.radio.adapters.isEmpty ? ["hci0"] : plan.radio.adapters
        var text = "name: rehearsal\nseed: \(seed)\n"
        text += "adapters: [\(adapters.map { "\"\($0)\"" }.joined(separator: ", "))]\nmodules:\n"
        for vehicle in plan.list {
            // One in four, and of these one in five is away.
            let isFaulty = isBad && random.next() % 4 == 0
            for (family, module) in modules(of: vehicle) {
                guard let item = FamilyRegistry.invent(module, of: family) else { continue }
                var keys = item.keys
                if isFaulty, !item.faults.isEmpty {
                    let fault = item.faults[Int(random.next() % UInt64(item.faults.count))]
                    let isAway = random.next() % 5 == 0
                    keys.append(isAway ? ("out-of-reach", "true") : ("faults", "[{\(fault)}]"))
                }
                text += "  - {serial: \"\(module.serial)\", family: \(family.rawValue)"
                if let profile = module.profile { text += ", profile: \(profile.name)" }
                text += keys.map { ", \($0.name): \($0.value)" }.joined() + "}\n"
            }
        }
        return text
    }

    /// The module of a vehicle, and its GO device.
    private func modules(of vehicle: PlannedVehicle) -> [(Family, InventedModule)] {
        var module = InventedSecrets.module(of: vehicle, profiles)
        if let image = image(for: vehicle) {
            module.version = image.version.before
            (module.type, module.variant) = (image.fits.type, image.fits.variant)
        }
        let isBooked = Self.isBooked(vehicle)
        module.isBooked = isBooked
        guard let (family, found) = InventedSecrets.device(of: vehicle) else {
            return [(vehicle.family, module)]
        }
        var device = found
        device.isBooked = isBooked
        return [(vehicle.family, module), (family, device)]
    }

    /// Whether its steps end a booking before they begin one.
    private static func isBooked(_ vehicle: PlannedVehicle) -> Bool {
        let commands = vehicle.steps.flatMap { step -> [CarShareCommand] in
            if case .command(let commands) = step.action { return commands }
            return []
        }
        return commands.first { $0 == .checkIn || $0 == .checkOut } == .checkOut
    }

    /// The image that it gets first.
    private func image(for vehicle: PlannedVehicle) -> PlannedImage? {
        for step in vehicle.steps {
            guard case .update(let update) = step.action else { continue }
            return plan.image(named: update.via.first ?? update.image)
        }
        return nil
    }
}

/// The secrets of made-up vehicles: nothing is read for them.
package struct InventedSecrets: Sendable {
    /// The digits for pairing with any of them.
    static let passkey = "123456"

    static func module(of vehicle: PlannedVehicle, _ profiles: ProfileLibrary) -> InventedModule {
        let profile =
            vehicle.profile == Profile.generic
            ? nil : profiles.profile(vehicle.profile, of: vehicle.family)
        var module = InventedModule(
            vehicle.serial,
            profile,
            chance: chance(vehicle.secret.map { "\($0)" } ?? vehicle.serial.text)
        )
        if FamilyRegistry.takesToken(vehicle.family) {
            module = InventedModule(vehicle.serial, profile, chance: chance(vehicle.serial.text))
            module.hardwareID = vehicle.hardwareID
        }
        return module
    }

    /// The GO device beside its module; nil when it has none.
    static func device(of vehicle: PlannedVehicle) -> (Family, InventedModule)? {
        guard !FamilyRegistry.takesToken(vehicle.family), let serial = vehicle.goSerial,
            let family = FamilyRegistry.families.first(where: FamilyRegistry.takesToken)
        else { return nil }
        var module = InventedModule(serial, nil, chance: chance(serial.text))
        module.hardwareID = vehicle.hardwareID
        return (family, module)
    }

    /// What opens its module; nil where nothing is needed.
    func key(of vehicle: PlannedVehicle) -> Secret? {
        let module = Self.module(of: vehicle, ProfileLibrary())
        return FamilyRegistry.invent(module, of: vehicle.family)?.secret
            .map { Secret(Array($0.utf8)) }
    }

    func token(of vehicle: PlannedVehicle) -> Secret? {
        guard let (family, module) = Self.device(of: vehicle) else { return key(of: vehicle) }
        return FamilyRegistry.invent(module, of: family)?.secret.map { Secret(Array($0.utf8)) }
    }

    private static func chance(_ name: String) -> [UInt8] {
        SHA256.digest(of: Array("rehearsal \(name)".utf8)).bytes
    }
}

extension FirmwareVersion {
    /// An earlier version.
    fileprivate var before: FirmwareVersion {
        if patch > 0 { return FirmwareVersion(major, minor, patch - 1) }
        if minor > 0 { return FirmwareVersion(major, minor - 1, 0) }
        return FirmwareVersion(major > 0 ? major - 1 : 0, 0, 0)
    }
}
