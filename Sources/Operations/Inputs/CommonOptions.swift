package import Base
package import Commands
import Families
package import Radio
package import Show

/// The flags that several commands share, resolved.
package struct CommonOptions: Sendable {
    package let wantsJSON: Bool
    package let isQuiet: Bool
    package let noColor: Bool
    private let limit: [VehicleSelection]
    /// The vehicles of selections that are not patterns, after they were resolved.
    private var chosen: Set<VehicleID>?
    /// The profiles of the vehicles' modules.
    package private(set) var profiles = ProfileLibrary.shipped
    /// The folder with the operator's additional profiles.
    private(set) var profileFolder: String?

    /// For commands that read manifests: with the operator's own profiles.
    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.init(invocation)
        profiles = try ProfileFolder.library(invocation, context)
        profileFolder = invocation[Command.profiles]
    }

    package init(_ invocation: Invocation) {
        wantsJSON = invocation[Command.json]
        isQuiet = invocation[Command.quiet]
        noColor = invocation[Command.noColor]
        limit =
            invocation.command == .rollback
            ? invocation.arguments.dropFirst().compactMap { VehicleSelection($0) }
            : invocation[Command.limit]
    }

    /// The same options with other profiles.
    func using(_ profiles: ProfileLibrary, in folder: String) -> CommonOptions {
        var options = self
        options.profiles = profiles
        options.profileFolder = folder
        return options
    }

    /// Whether `--limit` includes the vehicle; without the flag all are included.
    package func takes(_ vehicle: VehicleID) -> Bool {
        if let chosen { return chosen.contains(vehicle) }
        precondition(limit.allSatisfy(\.isPattern), "a selection was not looked up")
        return limit.isEmpty
            || limit.contains { selection in
                if case .pattern(let pattern) = selection.form { return pattern.matches(vehicle) }
                return false
            }
    }

    /// Whether `--limit` names vehicles.
    package var selects: Bool { !limit.isEmpty }

    /// Whether the journal or the fleet list is needed to resolve `--limit`.
    var mustLookUp: Bool { !limit.allSatisfy(\.isPattern) }

    /// The same options with `--limit` resolved.
    package func looking(in ground: @autoclosure () -> VehicleGround) throws(CommandError)
        -> CommonOptions
    {
        guard mustLookUp else { return self }
        let ground = ground()
        var chosen: Set<VehicleID> = []
        for selection in limit { chosen.formUnion(try ground.vehicles(selection)) }
        var options = self
        options.chosen = chosen
        return options
    }

    /// The text of `--limit`, for messages.
    var limitText: String { limit.map(\.text.visible).joined(separator: ", ") }

    /// The state directory that the flag or the environment names; without a flag, rehearsals have
    /// one of their own beside it.
    ///
    /// A command that changes nothing there may be given by root also in the directory of another user.
    package static func stateDirectory(
        _ invocation: Invocation,
        _ context: Context,
        toLook: Bool = false
    ) throws(CommandError) -> String {
        if invocation.command == .rehearse {
            return try InventedDepot.state(invocation, context)
        }
        let flag = invocation[Command.state]
        if let path = StateLocation.path(
            flag: flag,
            isRehearsal: invocation.isRehearsal || invocation.command == .simulate,
            environment: context.variable
        ) {
            guard !toLook else { return path }
            let more = flag == nil ? " --state " + NextStep.quoted(path) : ""
            try RootRule.demand(path, more: more)
            return path
        }
        throw CommandError(
            .configuration,
            "no state directory is given",
            because: ["STATE_DIRECTORY, XDG_STATE_HOME and HOME are no absolute paths"],
            hint: "name it with --state DIR"
        )
    }
}

extension Context {
    /// Answers with a document for programs, or with text for people unless the command is quiet.
    package func answer(
        _ options: CommonOptions,
        _ document: @autoclosure () -> JSONValue,
        _ text: @autoclosure () -> String
    ) {
        if options.wantsJSON {
            console.result(document().text + "\n")
        } else if !options.isQuiet {
            show(text())
        }
    }
}

extension Invocation {
    /// Whether the command works on simulated vehicles.
    var isRehearsal: Bool { self[Command.simulated] != nil || command == .rehearse }
}

/// A simulated depot instead of Bluetooth.
package struct SimulationOptions: Sendable {
    package enum Origin: Sendable, Equatable {
        case file(String)
        /// Made up from the fleet list; with faults for a bad night.
        case invented(isBad: Bool)
    }

    package let depot: Origin
    /// Simulated seconds in a second; nil for the highest speed.
    package let pace: Double?
    package let seed: UInt64?

    /// Nil for real work.
    package init?(_ invocation: Invocation) {
        if invocation.command == .rehearse {
            depot = .invented(isBad: invocation[Command.bad])
        } else if let file = invocation[Command.simulated] {
            depot = .file(file)
        } else {
            return nil
        }
        pace = invocation[Command.pace]
        seed = invocation[Command.seed]
    }
}
