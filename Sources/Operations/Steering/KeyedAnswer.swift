import Commands
package import Wire

/// What became of a request with a key.
package enum KeyedAnswer: Sendable {
    /// The same as the first time, if it was sent before.
    case document(status: Int, text: String)
    /// Another request was sent with that key.
    case otherRequest
    /// We were cut off while it was carried out.
    case nobodyKnows
}

extension SteeringAnswer {
    /// As programs are given it: the status, and the document.
    package func document(of request: SteeringRequest) -> (status: Int, value: JSONValue) {
        isRefused ? (409, CommandError(.usage, sentence).document) : (200, json(of: request))
    }
}
