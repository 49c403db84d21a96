import Base

/// What is said to a server about an action.
package struct Feedback: Sendable, Equatable {
    /// The words of the interface.
    package enum Word: String, Sendable {
        case closed, proceeding, downloaded, rejected
    }

    package enum Result: String, Sendable {
        case success, failure, none
    }

    package let execution: Word
    package let result: Result
    package let details: String

    package init(_ execution: Word, _ result: Result = .none, _ details: String) {
        self.execution = execution
        self.result = result
        self.details = details
    }

    /// The document for an action.
    package func body(of action: ActionID) -> [UInt8] {
        let json = JSONValue.object([
            "id": .string(action.text),
            "status": .object([
                "execution": .string(execution.rawValue),
                "result": .object(["finished": .string(result.rawValue)]),
                "details": .array([.string(details)]),
            ]),
        ])
        return Array(json.text.utf8)
    }

    /// The document with which an action that waits may begin.
    package static func confirmation(_ details: String) -> [UInt8] {
        let json = JSONValue.object([
            "confirmation": "confirmed", "code": 200, "details": .array([.string(details)]),
        ])
        return Array(json.text.utf8)
    }

    /// The document with what is known of a controller.
    package static func attributes(_ attributes: [(name: String, value: String)]) -> [UInt8] {
        let members = attributes.map { JSONMember($0.name, .string($0.value)) }
        let json = JSONValue.object(["mode": "merge", "data": .object(members)])
        return Array(json.text.utf8)
    }
}
