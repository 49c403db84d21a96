import Commands
import Domain
import Families
import Modules
import Operations
import Reports

/// The flags that several commands share, resolved.
struct CommonOptions: Sendable {
    let wantsJSON: Bool
    let isQuiet: Bool
    let noColor: Bool
    private let limit: [VehicleSelection]
    /// Those whom selections mean that are no patterns, once they were looked up.
    private var chosen: Set<VehicleID>?
    /// The profiles of the vehicles' modules.
    private(set) var profiles = ProfileLibrary.shipped
    /// The folder of those that the operator names besides.
    private(set) var profileFolder: String?

    /// For commands that read manifests: with the operator's own profiles.
    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.init(invocation)
        profiles = try ProfileFolder.library(invocation, context)
        profileFolder = invocation.value("profiles")
    }

    init(_ invocation: Invocation) {
        wantsJSON = invocation.has("json")
        isQuiet = invocation.has("quiet")
        noColor = invocation.has("no-color")
        limit = invocation.values("limit").compactMap { VehicleSelection($0) }
    }

    /// What follows the command's name in lines for the shell, where the directory is not the usual one.
    static func stateFlag(_ invocation: Invocation) -> String {
        invocation.value("state").map { " --state \(NextStep.quoted($0))" } ?? ""
    }

    /// The same with other profiles.
    func using(_ profiles: ProfileLibrary, in folder: String) -> CommonOptions {
        var options = self
        options.profiles = profiles
        options.profileFolder = folder
        return options
    }

    /// Whether `--limit` lets the vehicle in; without the flag all are.
    func takes(_ vehicle: VehicleID) -> Bool {
        if let chosen { return chosen.contains(vehicle) }
        precondition(limit.allSatisfy(\.isPattern), "a selection was not looked up")
        return limit.isEmpty
            || limit.contains { selection in
                if case .pattern(let pattern) = selection.form { return pattern.matches(vehicle) }
                return false
            }
    }

    /// Whether the journal or the fleet list says whom `--limit` means.
    var mustLookUp: Bool { !limit.allSatisfy(\.isPattern) }

    /// The same with `--limit` looked up.
    func looking(in ground: @autoclosure () -> VehicleGround) throws(CommandError) -> CommonOptions
    {
        guard mustLookUp else { return self }
        let ground = ground()
        var chosen: Set<VehicleID> = []
        for selection in limit { chosen.formUnion(try ground.vehicles(selection)) }
        var options = self
        options.chosen = chosen
        return options
    }

    /// What `--limit` says, for messages.
    var limitText: String { limit.map(\.text.visible).joined(separator: ", ") }

    /// The state directory that the flag or the environment names.
    static func stateDirectory(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> String {
        let flag = invocation.value("state")
        if let path = StateLocation.path(flag: flag, environment: context.variable) { return path }
        throw CommandError(
            .configuration,
            "nothing says where the state directory is",
            because: ["STATE_DIRECTORY, XDG_STATE_HOME and HOME are no absolute paths"],
            hint: "name it with --state DIR"
        )
    }
}

/// A simulated depot in place of Bluetooth.
struct SimulationOptions: Sendable {
    /// The depot's file.
    let depot: String
    /// Simulated seconds in a second, nil for as fast as can be.
    let pace: Double?
    let seed: UInt64?

    /// Nil without `--simulate`.
    init?(_ invocation: Invocation) {
        guard let depot = invocation.value("simulate") else { return nil }
        self.depot = depot
        pace = invocation.value("pace").flatMap { ValueKind.positive($0) }
        seed = invocation.value("seed").flatMap { ValueKind.whole($0) }
    }
}
