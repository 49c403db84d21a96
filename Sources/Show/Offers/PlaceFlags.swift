import Base
package import Commands
import Glibc
import Store

/// Makes the commands that are offered to people: each is complete, so that it means the same in
/// every folder.
///
/// What a command line has named, and what the state directory remembers of the work in it.
package struct PlaceFlags: Sendable, Equatable {
    private let fleet: String?
    private var state: String?
    private var call = DirectoryCall()
    /// The user whose directory it is, when the reader is somebody else.
    private var owner: Owner?

    package init(fleet: String? = nil) { self.fleet = fleet }

    package init(_ invocation: Invocation) {
        fleet = invocation[Command.fleetAddress]
        state = invocation[Command.state].map { AbsolutePath.of($0) }
        // A rehearsal without a directory has its own.
        call = DirectoryCall(invocation)
    }

    /// The flags for a command on any gateway, where this machine's state directory means nothing.
    var onGateway: PlaceFlags { PlaceFlags(fleet: fleet) }

    /// The flags for the commands about this directory, for its user at a terminal.
    package func of(_ state: String) -> PlaceFlags {
        var flags = remembering(state)
        if let owner = Self.owner(of: state), owner.id != geteuid() { flags.owner = owner }
        if flags.call.isRehearsal || flags.owner != nil { flags.state = AbsolutePath.of(state) }
        return flags
    }

    /// The same for a reader who does not know where the command was given, and may be another
    /// user.
    package func elsewhere(_ state: String) -> PlaceFlags {
        var flags = remembering(state)
        flags.state = AbsolutePath.of(state)
        // Nobody is logged in as the user of a service.
        if let owner = Self.owner(of: state), owner.isService { flags.owner = owner }
        return flags
    }

    private func remembering(_ state: String) -> PlaceFlags {
        var flags = self
        flags.call = DirectoryCall.of(state) ?? call
        return flags
    }

    private static func owner(of state: String) -> Owner? {
        (try? Folder.open(state).facts()).map { Owner(id: $0.owner) }
    }

    /// A line for the shell.
    ///
    /// `words` follow the flags; a word that is not the program's is quoted by the caller.
    package func line(_ verb: String, _ words: String...) -> String {
        let places = [("state", state), ("fleet", fleet)].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
        let name = verb.prefix { $0 != " " }
        // Another rehearsal with made-up vehicles begins from the start.
        guard !call.isInvented || !Self.touching.contains(String(name)) else {
            return "yardmaster rehearse" + words.map { " " + $0 }.joined()
        }
        var flags = places
        if Self.touching.contains(String(name)) { flags += call.flags }
        if name == "validate" { flags = call.flags.filter { $0.name == "profiles" } }
        let user = owner.map { $0.sudo + " " } ?? ""
        let given = flags.map { " --\($0.name) \(NextStep.quoted($0.value))" }.joined()
        return "\(user)yardmaster \(verb)\(given)"
            + words.filter { !$0.isEmpty }.map { " " + $0 }.joined()
    }

    /// Commands that work on vehicles.
    private static let touching: Set<String> = ["run", "exec", "update", "rollback"]

    /// The command that begins a rollout again.
    package func again(_ manifest: String?) -> String {
        line("run --again", manifest.map { NextStep.quoted($0) } ?? "MANIFEST")
    }

    /// The commands that are offered at the end of a run of this rollout; `again` begins it again.
    package func offers(_ rollout: String, again: String, goesOn: Bool = true) -> RunOffers {
        let name = "--rollout " + NextStep.quoted(rollout)
        return RunOffers(
            look: line("status", name, "--quiet"),
            resume: line("resume", name),
            again: again,
            goesOn: goesOn
        )
    }
}
