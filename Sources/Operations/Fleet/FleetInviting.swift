import Base
package import Commands
package import Store

/// Makes the user of a gateway, and the invitation that hands it to the gateway's machine.
package enum FleetInviting {
    package static func invite(
        _ invocation: Invocation,
        _ context: Context
    ) async throws(CommandError) -> FleetInvitation {
        let name = invocation.arguments[0]
        guard FleetInvitation.isName(name) else {
            throw CommandError(
                .usage,
                "a gateway cannot be called '\(name.visible)'",
                hint: "use up to 63 letters, digits, '-', '_' and '.', as in north-1"
            )
        }
        let access = try FleetAccess.ofServer(invocation, context)
        return try await access.asServerUser { () throws(CommandError) in
            let login = try await access.withTables(as: nil) { fleet throws(FleetError) in
                try await fleet.login(name)
            }
            try admit(login.standing, name, renewing: invocation[Command.renew])
            let password = FleetInvitation.newPassword()
            let invitation = FleetInvitation(
                FleetAddress(
                    hosts: try hosts(login, access.address),
                    user: name,
                    database: access.address.database
                ),
                password: password,
                authority: login.authority.isEmpty ? nil : Base64.bytes(login.authority.utf8),
                expires: login.now.advanced(by: invocation[Command.invitationLifetime])
            )
            guard let invitation else {
                throw CommandError(.configuration, "the database's name does not go into a token")
            }
            try await access.withServer(as: nil) { fleet throws(FleetError) in
                try await fleet.invite(
                    name,
                    verifier: ScramVerifier.text(of: password),
                    until: invitation.expires,
                    as: [.gateway] + (invocation[Command.asOperator] ? [.operator] : []),
                    isNew: login.standing == .absent
                )
            }
            return invitation
        }
    }

    /// Where gateways reach the server: as `fleet create` has noted it, or as this address does.
    private static func hosts(
        _ login: FleetLogin,
        _ address: FleetAddress
    ) throws(CommandError) -> [FleetAddress.Host] {
        if !login.hosts.isEmpty { return try FleetServerSetup.names(login.hosts) }
        guard address.isVerified else {
            throw CommandError(
                .configuration,
                "nothing says where gateways reach this server",
                hint: "sudo yardmaster fleet create --host NAME"
            )
        }
        return address.hosts
    }

    private static func admit(
        _ standing: FleetLogin.Standing,
        _ name: String,
        renewing: Bool
    ) throws(CommandError) {
        let why: String
        switch standing {
        case .invited: return
        case .absent:
            guard renewing else { return }
            why = "was never invited: leave --renew out"
        case .joined:
            guard !renewing else { return }
            why =
                "has joined already: --renew gives it a new password, and its present one ends at once"
        case .foreign: why = "is a user of the database who is no gateway: take another name"
        }
        throw CommandError(.usage, "\(name) \(why)")
    }
}
