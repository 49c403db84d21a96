import Base
package import Commands
import Glibc
import Show
import Store

/// The state directory of this machine's runs, for the commands that steer or show them.
///
/// A request in another directory would be answered with 0, and no run would ever obey it.
package enum GatewayState {
    /// What is at one of the places.
    private enum Sight: Equatable {
        case nothing, journal
        /// This user may not look into it.
        case hidden
    }

    /// The directory that is named or, among the places where the runs of a machine keep their state, the only one with
    /// a journal.
    package static func find(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> String {
        try find(flag: invocation[Command.state], environment: context.variable)
    }

    /// The same; `units` is the directory of the machine's units.
    package static func find(
        flag: String?,
        environment: (String) -> String?,
        units: String = StateLocation.ofUnits,
        line: [String] = CommandLine.arguments
    ) throws(CommandError) -> String {
        if let given = StateLocation.given(flag: flag, environment: environment) { return given }
        var places = [units]
        if let own = StateLocation.ofUser(environment), own != units { places.append(own) }
        let found = places.map { (path: $0, sight: sight($0)) }.filter { $0.sight != .nothing }
        guard let first = found.first else {
            throw CommandError(
                .inputMissing,
                "no runs of this machine were found",
                because: places.map { "there is no journal in \($0.visible)" },
                hint: rehearsal(environment)
                    ?? "name the state directory of the runs with --state DIR"
            )
        }
        guard found.count == 1 else {
            throw CommandError(
                .inputMissing,
                "this machine has more than one state directory",
                because: found.map { "runs keep their state in \($0.path.visible)" },
                hint: "say which one is meant with --state DIR"
            )
        }
        guard first.sight == .journal else { throw hidden(first.path, line) }
        return first.path
    }

    /// Where a rehearsal was that named no directory; nil when there was none.
    private static func rehearsal(_ environment: (String) -> String?) -> String? {
        let place = StateLocation.path(flag: nil, isRehearsal: true, environment: environment)
        guard let place, sight(place) == .journal else { return nil }
        return "those of a rehearsal are in --state \(NextStep.quoted(place))"
    }

    private static func sight(_ place: String) -> Sight {
        if access("\(place)/\(Journal.fileName)", F_OK) == 0 { return .journal }
        return errno == EACCES ? .hidden : .nothing
    }

    private static func hidden(_ place: String, _ line: [String]) -> CommandError {
        let owner = (try? Owner.ofFolder(place)) ?? nil
        return CommandError(
            .inputMissing,
            "the runs of this machine keep their state in \(place.visible), which this user may not use",
            because: owner.map { ["it belongs to \($0)"] } ?? [],
            hint: owner.map { RootRule.line(as: $0, line) } ?? "name another one with --state DIR"
        )
    }
}
