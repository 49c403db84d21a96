import BlueZ

/// The object at `/org/bluez`: agents that answer for people, and profiles of classic Bluetooth.
final class Agents: ServedObject {
    struct Agent: Equatable {
        let client: String
        let path: ObjectPath
        var capability = ""

        /// Whether it can be asked for a passkey.
        var hasKeyboard: Bool { ["", "KeyboardOnly", "KeyboardDisplay"].contains(capability) }

        static func == (left: Agent, right: Agent) -> Bool {
            left.client == right.client && left.path == right.path
        }
    }

    private unowned let daemon: Daemon
    private var agents: [Agent] = []
    private var profiles: [Agent] = []
    private var standard: Agent?

    init(_ daemon: Daemon) { self.daemon = daemon }

    var path: ObjectPath { ObjectPath("/org/bluez") ?? .root }

    func called(_ call: IncomingCall) {
        guard let path = call.arguments.first?.asPath else { return call.fail(.invalidArguments) }
        let agent = Agent(client: call.sender, path: path)
        switch call.member {
        case "RegisterAgent":
            guard !agents.contains(where: { $0.client == call.sender }) else {
                return call.fail(.alreadyExists)
            }
            let words = [
                "", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput",
                "KeyboardDisplay",
            ]
            guard words.contains(call.arguments[1].asString ?? "?") else {
                return call.fail(.invalidArguments)
            }
            agents.append(
                Agent(
                    client: call.sender,
                    path: path,
                    capability: call.arguments[1].asString ?? ""
                )
            )
            call.reply()
            tellPairable()
        case "UnregisterAgent":
            guard agents.contains(agent) else { return call.fail(.doesNotExist) }
            call.reply()
            remove(agent)
        case "RequestDefaultAgent":
            guard agents.contains(agent) else { return call.fail(.doesNotExist) }
            standard = agents.first { $0 == agent }
            call.reply()
        case "RegisterProfile":
            guard !profiles.contains(agent) else { return call.fail(.alreadyExists) }
            profiles.append(agent)
            call.reply()
        case "UnregisterProfile":
            guard profiles.contains(agent) else { return call.fail(.doesNotExist) }
            profiles.removeAll { $0 == agent }
            call.reply()
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func remove(_ agent: Agent) {
        agents.removeAll { $0 == agent }
        if standard == agent { standard = nil }
        tellPairable()
    }

    /// Without an agent, pairing is impossible.
    private func tellPairable() {
        for adapter in daemon.adapters { adapter.setPairable(!agents.isEmpty) }
    }

    func clientLeft(_ name: String) {
        for agent in agents where agent.client == name { remove(agent) }
        profiles.removeAll { $0.client == name }
    }

    /// The client's own agent, or else the default agent, or else the first one.
    func agent(of client: String?) -> Agent? {
        agents.first { $0.client == client } ?? standard ?? agents.first
    }
}
