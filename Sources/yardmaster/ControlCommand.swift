import Base
import Commands
import Glibc
import Manifest
import Operations
import Show
import Site
import Store

/// `pause`, `resume`, `abort`, `retry`, `inhibit`, `uninhibit`, `clear`: requests in the journal,
/// for the current run or the next one.
struct ControlCommand {
    private let request: SteeringRequest
    private let requests: OperatorRequests
    private let common: CommonOptions
    private let context: Context

    init(
        _ verb: SteeringVerb,
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) {
        self.context = context
        let state = try Self.state(invocation, context)
        common = CommonOptions(invocation)
        var vehicles: [VehicleSelection] = []
        for text in invocation.arguments { vehicles.append(try KnownVehicles.selection(text)) }
        request = SteeringRequest(
            verb,
            rollout: invocation[Command.rollout],
            vehicles: vehicles,
            isAll: invocation[Command.wholeDepot],
            reason: invocation[Command.reason],
            length: try Self.length(invocation, context, state),
            author: Self.author
        )
        if let fault = request.fault {
            throw CommandError(
                .usage,
                "\(fault)",
                hint: verb.takesDepot
                    ? "name vehicles, or say 'yardmaster \(verb.rawValue) --all"
                        + "\(verb == .inhibit ? " --reason TEXT" : "")' for all of the depot"
                    : nil
            )
        }
        if request.length != nil {
            try ClockCheck.demand(invocation, RealTime().wallTime, state: state)
        }
        var listed: [PlannedVehicle] = []
        for manifest in invocation[Command.known] {
            listed += try Inputs.plan(manifest, context, common).vehicles
        }
        requests = OperatorRequests(
            state: state,
            listed: listed,
            fleet: try FleetAccess.ofVerb(invocation, context, state: state)
                .map { FleetControl(access: $0) }
        )
    }

    /// The directory of the runs; any at all for a machine of a fleet on which nothing has run.
    static func state(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> String {
        let state: String
        do throws(CommandError) { state = try GatewayState.find(invocation, context) } catch {
            let own = try CommonOptions.stateDirectory(invocation, context)
            guard try FleetAccess.ofVerb(invocation, context, state: own) != nil else {
                throw error
            }
            return own
        }
        try RootRule.demand(
            state,
            more: invocation[Command.state] != nil ? "" : " --state " + NextStep.quoted(state)
        )
        return state
    }

    /// How long its effect lasts, also when the end is given.
    private static func length(
        _ invocation: Invocation,
        _ context: Context,
        _ state: String
    ) throws(CommandError) -> Duration? {
        guard let text = invocation[Command.until] else { return invocation[Command.expiry] }
        guard invocation[Command.expiry] == nil else {
            throw CommandError(.usage, "--for and --until are both given", hint: "give one")
        }
        let (zone, now) = StandingJournal(state: state, flags: PlaceFlags()).clock(context)
        guard let end = zone.next(text, after: now) else {
            throw CommandError(
                .usage,
                "'\(text.visible)' is no time to come",
                hint: "write a time such as '18:00', 'fri 18:00', '12-24' or '2026-12-24 18:00'"
            )
        }
        return now.duration(to: end)
    }

    func run() async throws(CommandError) -> ExitCode {
        let answer = try await requests.perform(request)
        guard !answer.isRefused else { throw CommandError(.usage, answer.sentence) }
        context.answer(common, answer.json(of: request), answer.sentence + "\n")
        return .done
    }

    /// The author of a request: the name of the account.
    static var author: String {
        getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
            ?? "user \(getuid())"
    }
}
