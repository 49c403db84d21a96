import Base
import Commands
import Operations
import Store

/// `fleet invite` on the server, and `fleet join` on the machine of a gateway.
struct FleetJoinCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    func invite() async throws(CommandError) -> ExitCode {
        let invitation = try await FleetInviting.invite(invocation, context)
        let (gateway, expires) = (invitation.gateway, invitation.expires.description)
        let document = JSONValue.object([
            "schema": 1, "gateway": .string(gateway), "token": .string(invitation.text),
            "expires": .string(expires), "exit": ExitCode.done.json,
        ])
        context.console.result((common.wantsJSON ? document.text : invitation.text) + "\n")
        if !common.isQuiet {
            context.console.note(
                "yardmaster: this line is a secret: until \(expires) it makes one machine the gateway \(gateway)\n"
                    + "  there: sudo yardmaster fleet join -, and paste it\n"
            )
        }
        return .done
    }

    func join() async throws(CommandError) -> ExitCode {
        let joining = try FleetJoining(invocation, context)
        let way = try await joining.join()
        let (gateway, address) = (joining.gateway, joining.address)
        let document = JSONValue.object([
            "schema": 1, "gateway": .string(gateway), "fleet": .string(address.fullText),
            "exit": ExitCode.done.json,
        ])
        let isUsual = invocation[Command.joinFolder] == Command.joinFolder.fallback
        let more =
            isUsual ? "" : "YARDMASTER_GATEWAY=\(gateway) YARDMASTER_FLEET='\(address.fullText)' "
        let lines =
            ["this machine is the gateway \(gateway) of \(address.text)", way]
            + joining.written.map { "wrote \($0)" } + ["next: \(more)yardmaster run MANIFEST"]
        context.answer(common, document, lines.map { $0.visible + "\n" }.joined())
        return .done
    }
}
