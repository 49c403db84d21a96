import Commands
import Domain
import Glibc
import Manifest
import Operations
import Wire

/// `pause`, `resume`, `abort`, `retry`, `inhibit`, `uninhibit`, `clear`: requests in the journal,
/// for the current run or the next one.
struct ControlCommand {
    private let request: SteeringRequest
    private let requests: OperatorRequests
    private let common: CommonOptions
    private let context: Context

    init(
        _ verb: SteeringRequest.Verb,
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) {
        self.context = context
        let state = try CommonOptions.stateDirectory(invocation, context)
        common = CommonOptions(invocation)
        var vehicles: [VehicleSelection] = []
        for text in invocation.arguments { vehicles.append(try KnownVehicles.selection(text)) }
        request = SteeringRequest(
            verb,
            rollout: invocation.value("rollout"),
            vehicles: vehicles,
            reason: invocation.value("reason"),
            length: invocation.value("for").flatMap { Duration(text: $0) },
            author: Self.author
        )
        var listed: [PlannedVehicle] = []
        for manifest in invocation.values("manifest") {
            listed += try Inputs.plan(manifest, context, common).vehicles
        }
        requests = OperatorRequests(
            state: state,
            listed: listed,
            fleet: try FleetAccess.ofVerb(invocation, context, state: state)
                .map { FleetControl(access: $0) }
        )
    }

    func run() async throws(CommandError) -> ExitCode {
        let answer = try await requests.perform(request)
        guard !answer.isRefused else { throw CommandError(.usage, answer.sentence) }
        if common.wantsJSON {
            context.console.result(answer.json(of: request).text + "\n")
        } else if !common.isQuiet {
            context.console.result(answer.sentence + "\n")
        }
        return .done
    }

    /// The author of a request: the name of the account.
    private static var author: String {
        getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
            ?? "user \(getuid())"
    }
}
