package import Commands
import Reports

/// The flags of lines for the shell that name the state directory and the fleet, when they were given.
package struct PlaceFlags: Sendable, Equatable, CustomStringConvertible {
    private let state: String?
    private let fleet: String?

    package init(state: String? = nil, fleet: String? = nil) {
        (self.state, self.fleet) = (state, fleet)
    }

    package init(_ invocation: Invocation) {
        self.init(state: invocation.value("state"), fleet: invocation.value("fleet"))
    }

    /// The flags for a command on any gateway, where this machine's state directory means nothing.
    var onGateway: PlaceFlags { PlaceFlags(fleet: fleet) }

    /// The flags for a reader who does not know where the command was given.
    func with(state: String) -> PlaceFlags { PlaceFlags(state: state, fleet: fleet) }

    /// Follows the command's name.
    package var description: String {
        [("state", state), ("fleet", fleet)].compactMap { name, value in
            value.map { " --\(name) \(NextStep.quoted($0))" }
        }.joined()
    }
}
