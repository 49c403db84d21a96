import Base
import Commands
import Operations
import Show
import Site
import Store

/// `show`: everything that is known about one vehicle.
struct ShowCommand {
    private let standings: Standings
    /// The vehicle as people call it.
    private let name: String
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        standings = try Standings(invocation, context)
        common = CommonOptions(invocation)
        name = invocation.arguments[0]
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        let (story, zone) = try await standings.story(ofVehicleCalled: name)
        if common.wantsJSON {
            context.console.result(story.json.text + "\n")
        } else {
            context.show(story.text(zone.screen()))
        }
        return story.exitCode
    }
}
