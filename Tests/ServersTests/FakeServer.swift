import Base
import Images
import Servers
import Site
import Synchronization

/// An update server in memory, written from the public description of the interface, with the
/// behaviour of hawkBit; on demand with that of a server that counts every word and has no cancel.
final class FakeServer: ServerLine {
    enum Status: String, Sendable {
        case running, canceling, waiting, finished, error, canceled

        var isActive: Bool { self == .running || self == .canceling || self == .waiting }
    }

    struct Action: Sendable {
        let id: String
        let controller: String
        var version = "2.0.0"
        var file = "tracker.img"
        var status = Status.running
        var window: String?
        var update = "forced"
        var closings = 0
        var words: [String] = []
    }

    struct State: Sendable {
        var actions: [Action] = []
        var files: [String: [UInt8]] = [:]
        /// What is delivered instead of a file.
        var swapped: [String: [UInt8]] = [:]
        var attributes: [String: JSONValue] = [:]
        var wanting: Set<String> = []
        var requests: [String] = []
        var host = "updates.example"
        /// Where the files are.
        var fileHost = "updates.example"
        var scheme = "https"
        /// The addresses of files that were fetched, and whether the token went along.
        var fetches: [(address: String, hadToken: Bool)] = []
        /// Requests whose answers are lost, by their numbers, after they had their effect.
        var lost: Set<Int> = []
        var isDown = false
        /// The controllers about which it says nothing to this gateway.
        var forbidden: Set<String> = []
        var count = 0
    }

    private let state: Mutex<State>

    init(_ file: [UInt8], named name: String = "tracker.img") {
        var state = State()
        state.files[name] = file
        self.state = Mutex(state)
    }

    @discardableResult
    func with<R: Sendable>(_ body: (inout State) -> R) -> R { state.withLock { body(&$0) } }

    func assign(_ action: Action) { state.withLock { $0.actions.append(action) } }

    func change(_ id: String, _ body: (inout Action) -> Void) {
        state.withLock { state in
            for index in state.actions.indices where state.actions[index].id == id {
                body(&state.actions[index])
            }
        }
    }

    func action(_ id: String) -> Action? {
        state.withLock { state in state.actions.first { $0.id == id } }
    }

    func ask(_ request: ServerRequest) async -> ServerAnswer {
        answer(request)
    }

    func answer(_ request: ServerRequest) -> ServerAnswer {
        state.withLock { state in
            state.count += 1
            if state.isDown {
                return .failure(ServerFault("the server cannot be reached", isSilence: true))
            }
            if state.forbidden.contains(request.controller) {
                state.requests.append("\(request.controller) \(request.place)")
                return .failure("the server forbids this")
            }
            let answer = Self.answer(request, &state)
            if state.lost.contains(state.count) {
                return .failure(ServerFault("the answer was lost", isSilence: true))
            }
            return answer
        }
    }

    func file(
        at address: WebAddress,
        for controller: String,
        isOwn: Bool,
        limit: ByteCount
    ) async -> Result<[UInt8], DownloadError> {
        state.withLock { state in
            state.fetches.append(("\(address)", isOwn))
            let name = "\(address)".split(separator: "/").last.map { String($0) } ?? ""
            guard let bytes = state.swapped[name] ?? state.files[name] else {
                return .failure(.status(404, retryAfter: nil))
            }
            return bytes.count > limit.bytes ? .failure(.tooLong(limit: limit)) : .success(bytes)
        }
    }

    // MARK: Answers

    private static func answer(
        _ request: ServerRequest,
        _ state: inout State
    ) -> ServerAnswer {
        let parts = request.place.split(separator: "/").map { String($0) }
        state.requests.append("\(request.controller) \(request.place)")
        guard let kind = parts.first else { return poll(request.controller, state) }
        if kind == "configData" {
            guard case .put(let body) = request.verb, let json = try? JSONValue(json: body) else {
                return .failure("400")
            }
            state.attributes[request.controller] = json["data"]
            state.wanting.remove(request.controller)
            return .success([])
        }
        let index = state.actions.firstIndex {
            parts.count > 1 && $0.id == parts[1] && $0.controller == request.controller
        }
        guard let index else { return .absent }
        if case .post(let body) = request.verb {
            if kind == "confirmationBase" { return confirm(body, &state.actions[index]) }
            return hear(body, isCancel: kind == "cancelAction", &state.actions[index])
        }
        let action = state.actions[index]
        if kind == "confirmationBase" {
            guard action.status == .waiting else { return .absent }
            let text = deployment(action, state)
            return .success(text.replacing("deployment\":", with: "confirmation\":").bytes)
        }
        if kind == "cancelAction" {
            guard action.status == .canceling else { return .absent }
            return .success(#"{"id":"1","cancelAction":{"stopId":"\#(action.id)"}}"#.bytes)
        }
        guard action.status == .running else { return .absent }
        return .success(deployment(action, state).bytes)
    }

    private static func poll(_ controller: String, _ state: State) -> ServerAnswer {
        let base = "https://\(state.host)/DEFAULT/controller/v1/\(controller)"
        var links: [String] = []
        if let action = state.actions.first(where: {
            $0.controller == controller && $0.status.isActive
        }) {
            let kind =
                switch action.status {
                case .canceling: "cancelAction"
                case .waiting: "confirmationBase"
                case .running, .finished, .error, .canceled: "deploymentBase"
                }
            links.append(#""\#(kind)":{"href":"\#(base)/\#(kind)/\#(action.id)?c=-7"}"#)
        }
        if state.wanting.contains(controller) {
            links.append(#""configData":{"href":"\#(base)/configData"}"#)
        }
        let json =
            #"{"config":{"polling":{"sleep":"00:05:00"}},"_links":{"# + links.joined(separator: ",")
            + "}}"
        return .success(json.bytes)
    }

    private static func deployment(_ action: Action, _ state: State) -> String {
        let bytes = state.files[action.file] ?? []
        let window = action.window.map { #""maintenanceWindow":"\#($0)","# } ?? ""
        let address = "\(state.scheme)://\(state.fileHost)/DEFAULT/files/\(action.file)"
        return
            #"{"id":"\#(action.id)","deployment":{"download":"forced","update":"\#(action.update)",\#(window)"#
            + #""chunks":[{"part":"bApp","version":"\#(action.version)","name":"tracker","artifacts":[{"#
            + #""filename":"\#(action.file)","hashes":{"sha256":"\#(SHA256.digest(of: bytes))"},"#
            + #""size":\#(bytes.count),"_links":{"download":{"href":"\#(address)"}}}]}]}}"#
    }

    private static func confirm(_ body: [UInt8], _ action: inout Action) -> ServerAnswer {
        let json = try? JSONValue(json: body)
        action.words.append(json?["confirmation"]?.string ?? "400")
        if json?["confirmation"] == "confirmed", action.status == .waiting {
            action.status = .running
        }
        return .success([])
    }

    private static func hear(
        _ body: [UInt8],
        isCancel: Bool,
        _ action: inout Action
    ) -> ServerAnswer {
        guard let status = (try? JSONValue(json: body))?["status"],
            let execution = status["execution"]?.string
        else { return .failure("400") }
        let result = status["result"]?["finished"]?.string ?? ""
        guard action.status.isActive else { return .absent }
        action.words.append("\(isCancel ? "cancel " : "")\(execution) \(result)")
        switch (isCancel, execution) {
        case (true, "closed"): action.status = .canceled
        case (true, "rejected"): action.status = .running
        case (false, "closed"):
            action.status = result == "failure" ? .error : .finished
            action.closings += 1
        case (false, "downloaded"): if action.update == "skip" { action.status = .finished }
        default: return .success([])
        }
        return .success([])
    }
}

extension String {
    var bytes: [UInt8] { Array(utf8) }
}
