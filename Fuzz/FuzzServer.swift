import Base
import Images
import Servers

/// Any bytes are a document of an update server, its file of settings or an archive, or they are
/// refused; whatever is taken leads to the server itself.
func fuzzServer(_ bytes: [UInt8]) {
    guard let server = try? WebAuthority("updates.example"), let action = ActionID("5") else {
        return
    }
    if let base = try? ControllerBase(bytes, of: server) {
        for id in [base.deployment, base.cancel, base.confirmation].compactMap(\.self) {
            precondition(ActionID(id.text) == id, "an id is a word")
        }
    }
    if let deployment = try? Deployment(bytes, of: action) {
        precondition(deployment.action == action, "it is the action that was asked for")
        precondition(deployment.demand == deployment.demand)
        for artifact in deployment.modules.flatMap(\.artifacts) {
            precondition(artifact.size.bytes > 0 && !artifact.file.isEmpty)
        }
    }
    _ = try? CancelOrder(bytes)
    _ = try? Deployment(bytes, of: action, in: "confirmation")
    converse(server, bytes)
    if let settings = ServersReader.read(bytes, path: "servers.yaml").servers?.first,
        let deployment = try? Deployment(bytes, of: action)
    {
        _ = try? settings.artifact(of: deployment, family: "esp", profile: "generic")
    }
    if let content = try? CpioArchive.contents(of: "a", in: bytes) {
        precondition(content.count < bytes.count, "a file is smaller than its archive")
    }
}

/// A server that answers everything with the same bytes: the conversation ends.
private func converse(_ server: WebAuthority, _ bytes: [UInt8]) {
    var machine = ControllerMachine(
        at: server,
        due: [],
        open: [4, 6].compactMap { ActionID("\($0)") },
        confirms: true
    )
    var action = machine.begin()
    for _ in 0..<20 {
        switch action {
        case .poll: action = machine.polled(.success(bytes))
        case .tell: action = machine.told(.success(bytes))
        case .settle: action = machine.settled()
        case .readCancel: action = machine.readCancel(.success(bytes))
        case .decide(let id):
            action = machine.decided(
                ServerWord(Feedback(.rejected, .none, ""), of: id, number: 1, isAboutCancel: true)
            )
        case .describe: action = machine.described(.success(bytes))
        case .look(let id):
            action = machine.looked(id == ActionID("4") ? .absent : .success(bytes))
        case .forget: action = machine.forgotten()
        case .drop: action = machine.dropped()
        case .readConfirmation: action = machine.readConfirmation(.success(bytes))
        case .weigh: action = machine.weighed(true)
        case .confirm: action = machine.confirmed(.success(bytes))
        case .read: action = machine.read(.success(bytes))
        case .take: action = machine.taken(nil)
        case .finish: return
        }
    }
    preconditionFailure("a conversation does not end")
}
