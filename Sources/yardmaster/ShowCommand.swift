import Commands
import Domain
import Journal
import Operations
import Reports
import Wire

/// `show`: everything that the journal contains about one vehicle.
struct ShowCommand {
    private let state: String
    private let vehicle: VehicleID
    private let common: CommonOptions
    private let flags: String

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        common = CommonOptions(invocation)
        flags = CommonOptions.stateFlag(invocation)
        guard let vehicle = VehicleID(invocation.arguments[0]) else {
            throw CommandError(.usage, "'\(invocation.arguments[0].visible)' is no vehicle's id")
        }
        self.vehicle = vehicle
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let journal = StandingJournal(state: state, flags: flags)
        let (story, zone) = try journal.story(of: vehicle, context)
        if common.wantsJSON {
            context.console.result(story.json.text + "\n")
        } else {
            context.console.result(story.text(zone.text))
        }
        return .done
    }
}
