import Commands
import Domain
import Journal
import Manifest
import Operations
import Reports
import Wire

/// `show`: everything that the journal knows of one vehicle.
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
        let now = RealTime().wallTime
        let view: VehicleView
        do throws(JournalError) {
            view = try JournalReader(directory: state).read { reader throws(JournalError) in
                try VehicleView(of: vehicle, in: reader, at: now)
            }
        } catch { throw RunCommand.refusal(reading: error, in: state) }
        guard view.isKnown else {
            throw CommandError(
                .inputMissing,
                "no run here knows the vehicle \(vehicle.text.visible)",
                hint:
                    "'yardmaster status' lists those of the last rollout; ids are written as in the "
                    + "fleet list"
            )
        }
        let plans = VehicleLedger(state: state).plans(of: view.snapshots)
        let zone =
            view.snapshots.lazy.compactMap { snapshot -> Zone? in
                guard let plan = plans[snapshot.run?.rollout ?? ""]?.plan,
                    plan.rollout.window != nil
                else { return nil }
                return try? ZoneSource.zone(of: plan, context)
            }.first ?? .utc
        let story = VehicleStory(view, plans: plans, flags: flags)
        if common.wantsJSON {
            context.console.result(story.json.text + "\n")
        } else {
            context.console.result(story.text(zone.text))
        }
        return .done
    }
}
