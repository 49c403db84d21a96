import Base
import Commands
import Operations
import Store

/// `gateway drain`: a gateway finishes its work and begins nothing new; `gateway forget`: the fleet
/// no longer waits for its reports.
struct GatewayDrainCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    func run() async throws(CommandError) -> ExitCode {
        let name = invocation.arguments[0]
        let access = try FleetAccess(invocation, context)
        let (isAsked, known) = try await access.withTables(as: .operator) {
            fleet throws(FleetError) -> (Bool, [FleetGateway]) in
            if try await fleet.drain(name) { return (true, []) }
            return (false, try await fleet.gateways())
        }
        guard isAsked else { throw Self.refusal(name, known) }
        finish("finishes what it has and begins nothing more; its next run takes part again")
        return .done
    }

    func forget() async throws(CommandError) -> ExitCode {
        let name = invocation.arguments[0]
        let access = try FleetAccess(invocation, context)
        let (isForgotten, awaited) = try await access.withTables(as: .operator) {
            fleet throws(FleetError) -> (Bool, String?) in
            if try await fleet.forget(name) { return (true, nil) }
            return (false, try await fleet.history().unheard)
        }
        guard isForgotten else {
            throw CommandError(
                .usage,
                "nothing waits for a gateway called '\(name.visible)'",
                hint: awaited.map { "the fleet waits for: \($0.visible)" }
                    ?? "no gateway is waited for"
            )
        }
        finish(
            "nothing waits for it any more; what it may have done and not reported is known to nobody"
        )
        return .done
    }

    private func finish(_ sentence: String) {
        let name = invocation.arguments[0]
        let code = ExitCode.done
        let document = JSONValue.object([
            "schema": 1,
            "gateway": .string(name),
            "exit": code.json,
        ])
        context.answer(common, document, "\(name.visible): \(sentence)\n")
    }

    private static func refusal(_ name: String, _ known: [FleetGateway]) -> CommandError {
        guard let gateway = known.first(where: { $0.name == name }) else {
            let names = Set(known.map(\.name.visible)).sorted().joined(separator: ", ")
            return CommandError(
                .usage,
                "no gateway of this fleet is called '\(name.visible)'",
                hint: names.isEmpty ? "no gateway has signed in" : "there are: \(names)"
            )
        }
        if gateway.isGone {
            return CommandError(
                .usage,
                "\(name.visible) is not at work: its run has ended",
                hint: "there is nothing to drain; to keep it from the next run, stop its timer"
            )
        }
        return CommandError(
            .usage,
            "\(name.visible) was last heard \(gateway.silence.brief) ago and may not get this either",
            hint:
                "end its run on that machine; if it is dead, its modules are free within three minutes"
        )
    }
}
