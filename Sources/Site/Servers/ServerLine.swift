package import Base
package import Images
package import Servers

/// A request to an update server about one controller.
package struct ServerRequest: Sendable, Equatable {
    /// What is done with the place.
    package enum Verb: Sendable, Equatable {
        case get
        case put([UInt8])
        case post([UInt8])
    }

    package let verb: Verb
    package let controller: String
    /// The place below the controller; empty for the controller itself.
    package let place: String

    package init(_ verb: Verb, _ controller: String, _ place: String = "") {
        (self.verb, self.controller, self.place) = (verb, controller, place)
    }
}

/// The way to an update server: the network in production, a server in memory in tests.
package protocol ServerLine: Sendable {
    /// Waits as the server demands, and asks again after faults that may pass.
    func ask(_ request: ServerRequest) async -> ServerAnswer

    /// The bytes of a file that is for this controller.
    func file(
        at address: WebAddress,
        for controller: String,
        isOwn: Bool,
        limit: ByteCount
    ) async -> Result<[UInt8], DownloadError>
}
