import Base
import Commands
import Operations
import Show
import Store

/// `show`: everything that is known about one vehicle.
struct ShowCommand {
    private let standings: Standings
    private let vehicle: VehicleID
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        standings = try Standings(invocation, context)
        common = CommonOptions(invocation)
        guard let vehicle = VehicleID(invocation.arguments[0]) else {
            throw CommandError(.usage, "'\(invocation.arguments[0].visible)' is no vehicle's id")
        }
        self.vehicle = vehicle
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        let (story, zone) = try await standings.story(of: vehicle)
        if common.wantsJSON {
            context.console.result(story.json.text + "\n")
        } else {
            context.show(story.text(zone.text))
        }
        return story.source?.isWhole == false ? .unavailable : .done
    }
}
