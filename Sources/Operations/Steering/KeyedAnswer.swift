package import Base
import Commands

/// The answer to a request with a key.
package enum KeyedAnswer: Sendable {
    /// The same as the first time, if it was sent before.
    case document(status: Int, text: String)
    /// Another request was sent with that key.
    case otherRequest
    /// The program was interrupted while it carried out the request: the result is unknown.
    case nobodyKnows
}

extension SteeringAnswer {
    /// The answer for programs: the status, and the document.
    package func document(of request: SteeringRequest) -> (status: Int, value: JSONValue) {
        isRefused ? (409, CommandError(.usage, sentence).document) : (200, json(of: request))
    }
}
