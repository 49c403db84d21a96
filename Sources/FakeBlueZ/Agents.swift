import DBus

/// What stands at `/org/bluez`: agents that answer for people, and profiles of classic Bluetooth.
final class Agents: ServedObject {
    private struct Agent: Equatable {
        let client: String
        let path: ObjectPath
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
            agents.append(agent)
            call.reply()
        case "UnregisterAgent":
            guard agents.contains(agent) else { return call.fail(.doesNotExist) }
            remove(agent)
            call.reply()
        case "RequestDefaultAgent":
            guard agents.contains(agent) else { return call.fail(.doesNotExist) }
            standard = agent
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
        if standard == agent { standard = agents.last }
    }

    func clientLeft(_ name: String) {
        for agent in agents where agent.client == name { remove(agent) }
        profiles.removeAll { $0.client == name }
    }

    /// Whether the agent says yes; with none there is nobody to say no.
    func ask(_ member: String, _ arguments: [DBusValue], _ done: @escaping (Bool) -> Void) {
        guard let agent = standard ?? agents.last else { return done(true) }
        let call = MethodCall(
            member,
            of: "org.bluez.Agent1",
            at: agent.path,
            on: agent.client,
            arguments,
            patience: .seconds(60)
        )
        daemon.ask(call) { result in
            if case .success = result { done(true) } else { done(false) }
        }
    }
}
