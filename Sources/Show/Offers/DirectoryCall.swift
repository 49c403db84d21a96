import Base
package import Commands
import Glibc

/// The flags with which the vehicles of a state directory are worked on, kept in it for the
/// commands that are offered later.
package struct DirectoryCall: Sendable, Equatable {
    /// The simulated depot; nil for real vehicles.
    private(set) var simulate: String?
    private(set) var profiles: String?
    private(set) var bus: String?
    /// Whether its vehicles were made up for one night: no command goes on with them.
    private(set) var isInvented = false

    package init() {}

    package init(_ invocation: Invocation) {
        simulate = invocation[Command.simulated].map { AbsolutePath.of($0) }
        profiles = invocation[Command.profiles].map { AbsolutePath.of($0) }
        bus = invocation[Command.bus]
        isInvented = invocation.command == .rehearse
    }

    package var isRehearsal: Bool { simulate != nil || isInvented }

    /// With their values, in the order in which they are written.
    var flags: [(name: String, value: String)] {
        [("profiles", profiles), ("bus", bus), ("simulate", simulate)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    package static func path(in state: String) -> String { state + "/call.json" }

    /// Nil when no work was done in the directory yet, or it cannot be read.
    package static func of(_ state: String) -> DirectoryCall? {
        guard let bytes = try? TextFile.read(path: path(in: state), limit: 65_536),
            let value = try? JSONValue(json: bytes)
        else { return nil }
        var call = DirectoryCall()
        call.simulate = value["simulate"]?.string
        call.profiles = value["profiles"]?.string
        call.bus = value["bus"]?.string
        call.isInvented = value["invented"]?.bool ?? false
        return call
    }

    /// Returns the error number.
    package func keep(in state: String) -> CInt? {
        guard Self.of(state) != self else { return nil }
        let invented = isInvented ? [JSONMember("invented", .bool(true))] : []
        let value = JSONValue.object(
            flags.map { JSONMember($0.name, .string($0.value)) } + invented
        )
        return Draft.write(Array((value.text + "\n").utf8), to: Self.path(in: state), mode: 0o600)
    }
}
