import Base
package import Commands
import Glibc
package import Store

/// Makes this machine a gateway of the fleet that an invitation leads to.
///
/// The password of the invitation is replaced by one that only this machine has, so a second machine cannot use it. The
/// new one is on the disk before the server has it: whenever this is interrupted, doing it again goes on.
package struct FleetJoining {
    private static let configuration = "fleet.conf"
    private static let authority = "fleet-ca.pem"
    private static let password = "fleet-password"

    private let invitation: FleetInvitation
    private let files: FleetFiles
    private let replaces: Bool
    private let now: WallTime

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        let word = invocation.arguments[0]
        let text = Secret(Array((word == "-" ? Question.line() : word).utf8))
        do throws(FleetInvitationError) { invitation = try FleetInvitation(text) } catch {
            throw CommandError(
                .configuration,
                "this is no invitation to a fleet",
                because: [error.description],
                hint: error.hint
            )
        }
        files = try FleetFiles(invocation[Command.joinFolder], context)
        replaces = invocation[Command.replace]
        now = RealTime().wallTime
    }

    package var gateway: String { invitation.gateway }

    /// The paths of the files.
    package var written: [String] {
        let names = [Self.configuration, Self.password] + (pem == nil ? [] : [Self.authority])
        return names.map(files.path)
    }

    /// Joins, and returns how the server was reached.
    package func join() async throws(CommandError) -> String {
        let before = try standing()
        let draft = Self.authority + ".new"
        if let pem { try files.write(draft, pem, mode: 0o644) }
        try await settle(pem == nil ? nil : draft)
        if pem != nil { try files.rename(draft, to: Self.authority) }
        if before == .another {
            try files.rename(Self.configuration, to: Self.configuration + ".before")
        }
        if before != .same {
            let text = """
                # Written by 'yardmaster fleet join'. The password is in \(files.path(Self.password)).
                gateway = \(gateway)
                fleet = \(address.fullText)

                """
            try files.write(Self.configuration, text, mode: 0o640)
        }
        // As every run does it, with the password from its file.
        let server = try await access(to: address).withTables(as: .gateway) {
            fleet throws(FleetError) in
            try await fleet.server()
        }
        guard !server.host.isLocal else { return "\(server.host.text) answers" }
        let authority = address.files[.sslrootcert] ?? FleetSettings.usualRoots
        return "\(server.host.text) answers over TLS, its certificate verified by \(authority)"
    }

    // MARK: The configuration

    private enum Before: Equatable { case none, same, another }

    private func standing() throws(CommandError) -> Before {
        guard files.has(Self.configuration) else { return .none }
        let text = try files.text(Self.configuration)
        let found = try? FleetConfiguration(text)
        let known = found?.fleet.flatMap { try? FleetAddress($0) }
        if known == address, found?.gateway == gateway { return .same }
        guard !replaces else { return .another }
        let name = found?.gateway.map { " as \($0.visible)" } ?? ""
        throw CommandError(
            .configuration,
            "this machine belongs to a fleet already: \(files.path(Self.configuration)) names "
                + "\(known?.text.visible ?? "something else")\(name)",
            because: ["nothing was changed, and the invitation was not used"],
            hint:
                "with --replace it joins as \(gateway), and the old file is kept beside it as "
                + "\(Self.configuration).before"
        )
    }

    package var address: FleetAddress {
        var paths = [FleetAddress.File.passfile: files.path(Self.password)]
        if pem != nil { paths[.sslrootcert] = files.path(Self.authority) }
        return invitation.address.with(files: paths)
    }

    private var pem: String? {
        guard let authority = invitation.authority else { return nil }
        var text = "-----BEGIN CERTIFICATE-----\n"
        var rest = Base64.text(authority)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }

    // MARK: The password

    private func access(to address: FleetAddress, by password: Secret? = nil) -> FleetAccess {
        FleetAccess(address: address, gateway: gateway, commonName: nil, password: password)
    }

    /// Makes the password of the file the one that the server has; `authority` is the file that verifies the server.
    private func settle(_ authority: String?) async throws(CommandError) {
        let draft = Self.password + ".new"
        var paths = authority.map { [FleetAddress.File.sslrootcert: files.path($0)] } ?? [:]
        // Of an earlier time: it has joined, or was interrupted when the server had the new password.
        for name in [Self.password, draft] where files.has(name) {
            paths[.passfile] = files.path(name)
            guard try await opens(access(to: address.with(files: paths))) else { continue }
            return name == draft ? try files.rename(draft, to: Self.password) : ()
        }
        paths[.passfile] = nil
        guard now < invitation.expires else {
            throw refusal("expired at \(invitation.expires)", "this machine's clock says \(now)")
        }
        let invited = access(to: address.with(files: paths), by: invitation.password)
        guard try await opens(invited) else {
            throw refusal(
                "does not open the fleet's database",
                "it was used already, here or on another machine, a later one was made, or it has expired"
            )
        }
        let password = FleetInvitation.newPassword()
        try password.withBytes { (bytes) throws(CommandError) in
            let line = "*:*:*:\(gateway):" + String(decoding: bytes, as: UTF8.self)
            try files.write(secret: line + "\n", draft)
        }
        try await invited.withServer(as: .gateway) { fleet throws(FleetError) in
            try await fleet.join(verifier: ScramVerifier.text(of: password))
        }
        try files.rename(draft, to: Self.password)
    }

    private func refusal(_ what: String, _ why: String) -> CommandError {
        CommandError(
            .configuration,
            "the invitation of \(gateway) \(what)",
            because: [why],
            hint:
                "make another one on the server: yardmaster fleet invite \(gateway), with --renew "
                + "when it has joined before"
        )
    }

    /// Whether the password opens the database; other errors are thrown.
    private func opens(_ access: FleetAccess) async throws(CommandError) -> Bool {
        try await access.withServer(as: .gateway) { fleet throws(FleetError) in
            do throws(FleetError) {
                _ = try await fleet.server()
                return true
            } catch {
                guard error.code == FleetError.refusedPassword else { throw error }
                return false
            }
        }
    }
}
