import Base
import Commands
import Operations
import Yard

/// `enrol`: enrols vehicles, or takes one out of service.
struct EnrolCommand {
    private let enrolment: VehicleEnrolment
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        let wish = try EnrolmentWish(invocation)
        let common = try CommonOptions(invocation, context)
        let state = try CommonOptions.stateDirectory(invocation, context)
        try ClockCheck.demand(invocation, RealTime().wallTime, state: state)
        enrolment = VehicleEnrolment(
            wish,
            state: state,
            simulation: SimulationOptions(invocation),
            bus: invocation[Command.bus],
            library: common.profiles,
            context
        ) { result in
            if !common.isQuiet, !common.wantsJSON { context.console.result(result.text) }
        }
        self.common = common
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let results = try await enrolment.perform()
        let code = Signals.exitCode ?? EnrolmentResult.exitCode(of: results)
        if common.wantsJSON {
            context.console.result(EnrolmentResult.document(results, code).text + "\n")
        } else if common.isQuiet {
            for result in results where result.isFailed { context.console.result(result.text) }
        }
        return code
    }
}
