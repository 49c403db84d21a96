package import Base
package import Servers
package import Store

/// What came of the conversation with a server about one vehicle.
package struct SyncRow: Sendable, Equatable {
    package let vehicle: VehicleID
    package let controller: String
    /// Nil when the server was not asked.
    package internal(set) var ending: ControllerMachine.Ending?
    /// What the server was told and has, in its order.
    package internal(set) var told: [String] = []
    /// The actions that are not over now.
    package internal(set) var actions: [ServerAction] = []

    init(_ vehicle: VehicleID, _ controller: String) {
        self.vehicle = vehicle
        self.controller = controller
    }

    /// Whether the server was asked and has answered everything.
    var isDone: Bool {
        switch ending {
        case .done, .unconfirmed, .unknown: true
        case .failed, nil: false
        }
    }

    /// Whether an action is refused here.
    var isRefused: Bool { actions.contains { $0.state == .open && $0.image == nil } }

    /// Whether somebody has to look at it, because the same will happen the next time.
    var needsPerson: Bool {
        if case .failed(let fault)? = ending { return !fault.isSilence }
        return isRefused
    }

    /// A line for people.
    var words: String {
        var parts = told
        for action in actions {
            let id = "action \(action.action.visible)"
            switch action.state {
            case .open where action.image == nil:
                parts.append("\(id) is refused: \(action.details ?? "")")
            case .open where action.isWanted:
                parts.append("\(id): \(action.version?.description ?? "") is to be brought to it")
            case .open: parts.append("\(id) is not to be done now")
            case .closing: parts.append("\(id): the server has not got the result yet")
            case .cancelled: parts.append("\(id) is cancelled, and the server does not know it yet")
            case .over: break
            }
        }
        switch ending {
        case .done: if parts.isEmpty { parts.append("nothing to do") }
        case .unconfirmed(let action):
            parts.append(
                "action \(action) waits for a confirmation, and is not begun"
            )
        case .unknown: parts.append("the server does not know \(controller.visible)")
        case .failed(let fault): parts.append("\(fault)")
        case nil: parts.append("the server was not asked")
        }
        return parts.joined(separator: "; ")
    }

    var document: JSONValue {
        .object([
            "vehicle": .string(vehicle.text),
            "controller": .string(controller),
            "done": .bool(isDone),
            "told": .array(told.map { .string($0) }),
            "actions": .array(
                actions.map { action in
                    .object([
                        "action": .string(action.action),
                        "state": .string(action.state.rawValue),
                        "wanted": .bool(action.isWanted),
                        "image": action.image.map { .string($0.description) },
                        "version": action.version.map { .string($0.description) },
                        "details": action.details.map { .string($0) },
                    ])
                }
            ),
            "words": .string(words),
        ])
    }
}
