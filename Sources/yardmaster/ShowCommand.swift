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
        flags = invocation.value("state").map { " --state \(NextStep.quoted($0))" } ?? ""
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
        let ledger = VehicleLedger(state: state)
        var plans: [String: MorningMaker.Plan] = [:]
        var zone = Zone.utc
        for snapshot in view.snapshots.reversed() {
            guard let name = snapshot.run?.rollout, let plan = ledger.plan(of: snapshot) else {
                continue
            }
            plans[name] = MorningMaker.Plan(
                plan,
                manifest: PlanArchive(state: state).manifest(of: name)
            )
            if plan.rollout.window != nil, let its = try? ZoneSource.zone(of: plan, context) {
                zone = its
            }
        }
        let story = VehicleStory(view, plans: plans, flags: flags)
        if common.wantsJSON {
            context.console.result(story.json.text + "\n")
        } else {
            context.console.result(story.text(zone.text))
        }
        return .done
    }
}
