package import Base
import Commands

/// The answer to a request, for people and for programs.
package struct SteeringAnswer: Sendable, Equatable {
    package let sentence: String
    let rollout: String?
    let isTakenUpNow: Bool
    /// Whether it was refused: nothing was changed, and the requested state is not in force.
    package let isRefused: Bool

    init(
        _ sentence: String,
        rollout: String? = nil,
        isTakenUpNow: Bool = false,
        isRefused: Bool = false
    ) {
        self.sentence = sentence
        self.rollout = rollout
        self.isTakenUpNow = isTakenUpNow
        self.isRefused = isRefused
    }

    /// The document that `--json` writes and that programs get.
    package func json(of request: SteeringRequest) -> JSONValue {
        Self.jsonForm.json(of: (self, request))
    }

    package static let jsonForm = JSONForm<(answer: SteeringAnswer, request: SteeringRequest)>
        .object("Answer", "The answer to a request.") {
            JSONForm.Member.version
            JSONForm.Member("request", \.request.verb)
            JSONForm.Member(ifAny: "rollout", \.answer.rollout)
            JSONForm.Member("vehicles", "Vehicles that were named by their id.", \.request.named)
            JSONForm.Member("taken-up-now", "Whether a run acts on it now.", \.answer.isTakenUpNow)
            JSONForm.Member("message", "For people.", \.answer.sentence)
            JSONForm.Member("exit") { _ in ExitCode.done }
        }
}
