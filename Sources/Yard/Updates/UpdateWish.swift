import Base
package import Commands
import Radio
import Show

/// The flags and arguments of `update`.
package struct UpdateWish: Sendable {
    /// A word of the command line that names modules.
    enum Name: Sendable {
        /// The id of a vehicle, its module's serial or name, or a pattern of these.
        case vehicle(VehiclePattern)
        case name(String)
        case serial(String)
        case address(String)
    }

    /// The image file, as it was given.
    package let file: String
    let names: [Name]
    /// Whether all modules are meant that the file fits.
    let takesAll: Bool
    /// The family of the modules and their profile; each is nil where it is not given.
    let family: String?
    let profile: String?
    let secret: SecretReference?
    let passkey: SecretReference?
    let version: FirmwareVersion?
    let allowsDowngrade: Bool
    let adapters: [String]
    let length: Duration
    /// Whether it may be done without a question.
    package let isAgreed: Bool

    package init(_ invocation: Invocation) throws(CommandError) {
        file = invocation.arguments[0]
        var names: [Name] = []
        for text in invocation.arguments.dropFirst() {
            guard case .pattern(let pattern)? = VehicleSelection(text)?.form else {
                throw CommandError(
                    .usage,
                    "'\(text.visible)' names no module in reach",
                    hint: "give a vehicle's id, a serial, a name, or a pattern such as 'tag-*'"
                )
            }
            names.append(.vehicle(pattern))
        }
        names += invocation[Command.moduleName].map(Name.name)
        names += invocation[Command.moduleSerial].map { .serial($0.lowercased()) }
        names += invocation[Command.moduleAddress].map { .address($0.uppercased()) }
        self.names = names
        takesAll = invocation[Command.allFitting]
        guard names.isEmpty || !takesAll else {
            throw CommandError(
                .usage,
                "modules are named beside --all",
                hint: "name modules, or give --all for every one that the file fits"
            )
        }
        let model = (invocation[Command.moduleProfile] ?? "").split(separator: "/").map(String.init)
        family = model.count > 1 ? model[0] : nil
        profile = model.last
        secret = try Self.reference(invocation[Command.moduleSecret], "secret")
        passkey = try Self.reference(invocation[Command.modulePasskey], "passkey")
        version = invocation[Command.imageVersion]
        allowsDowngrade = invocation[Command.downgrade]
        adapters = invocation[Command.adapter]
        length = invocation[Command.nearby]
        isAgreed = invocation[Command.agreed]
    }

    /// The words that name modules, as the command line may have them.
    package var words: [String] { (takesAll ? ["--all"] : []) + names.map(\.text) }

    /// That modules were not heard: those that are named and not among these, or else any.
    func silence(among modules: [UpdateTarget]) -> CommandError {
        let missing = names.filter { !modules.contains(where: $0.fits) }
        return CommandError(
            .unavailable,
            missing.isEmpty
                ? "no module was heard in \(length.brief)"
                : "not heard in \(length.brief): \(missing.map(\.text).joined(separator: ", "))",
            hint:
                "'yardmaster scan' shows what is in reach; a module that sleeps, or that a phone is "
                + "connected to, is not heard"
        )
    }

    private static func reference(
        _ text: String?,
        _ what: String
    ) throws(CommandError) -> SecretReference? {
        guard let text else { return nil }
        if let reference = try? SecretReference(text, relativeTo: "") { return reference }
        // It may be the secret itself, so it is not shown.
        throw CommandError(
            .usage,
            "the reference to the \(what) is not valid",
            hint:
                "write it as in --\(what) file:PATH, credential:NAME or env:NAME; the \(what) itself "
                + "has no place on a command line"
        )
    }
}

extension UpdateWish.Name {
    /// The word as the command line may have it.
    var text: String {
        switch self {
        case .vehicle(let pattern): NextStep.quoted(pattern.text)
        case .name(let name): "--name \(NextStep.quoted(name))"
        case .serial(let serial): "--serial \(NextStep.quoted(serial))"
        case .address(let address): "--address \(NextStep.quoted(address))"
        }
    }

    /// Whether it may mean several modules.
    var isPattern: Bool {
        if case .vehicle(let pattern) = self { return pattern.text.contains { "*?".contains($0) } }
        return false
    }

    func fits(_ module: UpdateTarget) -> Bool {
        switch self {
        case .vehicle(let pattern):
            isSure(module) || pattern.matches(module.name) || pattern.matches(module.vehicle)
                || pattern.matches(module.serial.text)
        case .name(let name): module.name == name
        case .serial, .address: isSure(module)
        }
    }

    /// Whether no other module can have this word.
    func isSure(_ module: UpdateTarget) -> Bool {
        switch self {
        case .vehicle(let pattern):
            pattern.text == module.vehicle.text || pattern.text.lowercased() == module.serial.text
        case .name: false
        case .serial(let serial): module.serial.text == serial
        case .address(let address): module.address?.uppercased() == address
        }
    }
}
