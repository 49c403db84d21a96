import Base
import Radio

/// The agent on the bus, and the pairings that wait for it.
extension BlueZ {
    private static let agentPath = ObjectPath("/ee/yardmaster/agent") ?? .root
    private static let managerPath = ObjectPath("/org/bluez") ?? .root

    /// Requests the pairing of a link; it begins when its turn comes.
    func pair(_ body: LinkBody) {
        drive(agent.wants(body.ticket, body.machine.policy.pairing))
    }

    func pairingEnded(_ ticket: UInt64) { drive(agent.ended(ticket)) }

    /// Makes BlueZ ask this program when a module wants a bond that its settings do not allow.
    func refuseBonds() { drive(agent.connects()) }

    /// Allows the centrals of a station to pair, according to its policy.
    func letCentralsPair(_ station: Station) {
        guard station.bond.pairing != .none else { return }
        drive(agent.serves(station.bond.pairing))
    }

    private func drive(_ actions: [AgentMachine.Action]) {
        for action in actions {
            switch action {
            case .perform(let step): perform(step)
            case .begin(let ticket): beginPairing(ticket)
            case .refuse(let ticket): pairingRefused(ticket)
            }
        }
    }

    private func perform(_ step: AgentMachine.Step) {
        var arguments = [DBusValue.objectPath(Self.agentPath)]
        let member: String
        switch step {
        case .unregister: member = "UnregisterAgent"
        case .register(let capability):
            exportAgent()
            member = "RegisterAgent"
            arguments.append(.string(capability.rawValue))
        case .beDefault: member = "RequestDefaultAgent"
        }
        let call = MethodCall(
            member,
            of: BlueZName.agentManager,
            at: Self.managerPath,
            on: BlueZName.service,
            arguments,
            patience: .seconds(10)
        )
        let before = generation
        startCall(call) { [weak self] result in
            self?.assumeIsolated { host in
                guard before == host.generation else { return }
                let refusal = Self.refusal(of: result)
                let isRefused = refusal != nil && refusal != .alreadyExists
                host.drive(host.agent.done(step, isRefused: isRefused))
            }
        }
    }

    // MARK: Questions of BlueZ

    private func exportAgent() {
        guard !isAgentExported else { return }
        isAgentExported = true
        connection?.assumeIsolated { connection in
            connection.export(.agent, at: Self.agentPath, properties: [:]) { [weak self] call in
                self?.assumeIsolated { $0.agentAsked(call) }
            }
        }
    }

    private func agentAsked(_ call: IncomingCall) {
        // Only the daemon may request a passkey.
        guard call.sender == owner else {
            return call.fail(ErrorReply("org.bluez.Error.Rejected", "not yours to call"))
        }
        if call.member == "Release" { agent.released() }
        guard let question = AgentMachine.Question(rawValue: call.member),
            let path = call.arguments.first?.asPath
        else { return call.reply() }
        switch AgentMachine.answer(question, about: bondPolicy(of: path)) {
        case .yes: call.reply()
        case .passkey(let passkey):
            for body in links.values where body.isAbout(path) { body.machine.passkeyGiven() }
            call.reply(.uint32(passkey.number))
        case .no:
            if question.isAboutBond {
                for body in links.values where body.isAbout(path) { bondRefused(body) }
            }
            call.fail(
                ErrorReply("org.bluez.Error.Rejected", "no device of this program needs a bond")
            )
        }
    }

    /// A request that has led to the question is never answered.
    private func bondRefused(_ body: LinkBody) {
        body.machine.bondRefused(at: now)
        for request in body.requests.values where request.hasBegun { limit(request, body) }
        body.alarm.set(body.deadline)
    }

    /// The bond policy for a device that this program works with; nil for any other device.
    private func bondPolicy(of path: ObjectPath) -> BondPolicy? {
        if let body = links.values.first(where: { $0.isAbout(path) }) { return body.machine.policy }
        guard let device = mirror.devices[path], device.isConnected,
            let adapter = device.adapter.flatMap({ mirror.adapters[$0] })
        else { return nil }
        return stations.values.first { adapter.isCalled($0.word) }?.bond
    }
}

extension InterfaceDescription {
    /// The calls that BlueZ makes when two devices pair.
    static let agent = InterfaceDescription(
        BlueZName.agent,
        methods: [
            Method("Release"), Method("Cancel"),
            Method(
                "RequestPinCode",
                takes: [Argument("device", .objectPath)],
                gives: [Argument("pincode", .string)]
            ),
            Method(
                "DisplayPinCode",
                takes: [Argument("device", .objectPath), Argument("pincode", .string)]
            ),
            Method(
                "RequestPasskey",
                takes: [Argument("device", .objectPath)],
                gives: [Argument("passkey", .uint32)]
            ),
            Method(
                "DisplayPasskey",
                takes: [
                    Argument("device", .objectPath), Argument("passkey", .uint32),
                    Argument("entered", .uint16),
                ]
            ),
            Method(
                "RequestConfirmation",
                takes: [Argument("device", .objectPath), Argument("passkey", .uint32)]
            ),
            Method("RequestAuthorization", takes: [Argument("device", .objectPath)]),
            Method(
                "AuthorizeService",
                takes: [Argument("device", .objectPath), Argument("uuid", .string)]
            ),
        ]
    )
}
