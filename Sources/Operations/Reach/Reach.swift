import Base
package import Commands
import Glibc
package import Images
import Show
package import Store

/// What a command may change: the world, or in a rehearsal nothing but its own state directory.
///
/// It is made in one place, from the command line. Every act that leaves the state directory needs
/// a value that is made here, and that a rehearsal does not get: a `RealWorld`, or an `OutsideFile`,
/// which in a rehearsal is a copy.
package struct Reach: Sendable {
    /// The right to change the world; nil in a rehearsal.
    package let world: RealWorld?
    /// The place of a rehearsal; nil for real work.
    let stage: Stage?
    private let call: DirectoryCall

    /// For what only reads.
    package static let nothing = Reach(world: nil, stage: nil, call: DirectoryCall())

    private init(world: RealWorld?, stage: Stage?, call: DirectoryCall) {
        self.world = world
        self.stage = stage
        self.call = call
    }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        call = DirectoryCall(invocation)
        guard let simulation = SimulationOptions(invocation) else {
            world = RealWorld()
            stage = nil
            return
        }
        // A command without this flag keeps nothing.
        let isKept = Command.named(invocation.command)?.flag(long: Command.state.long) != nil
        world = nil
        stage = Stage(
            simulation: simulation,
            state: isKept ? try CommonOptions.stateDirectory(invocation, context) : nil,
            mayNotify: invocation[Command.notify]
        )
    }

    /// The directory that a rehearsal writes into although none is named; nil for any other command.
    package func ownPlace(_ invocation: Invocation) -> String? {
        // A scan only reads what is known there.
        invocation[Command.state] != nil || invocation.command == .scan ? nil : stage?.state
    }

    /// The secrets of a rehearsal with made-up vehicles; nil where they are read.
    var invented: InventedSecrets? {
        guard case .invented = stage?.simulation.depot else { return nil }
        return InventedSecrets()
    }

    /// The right to send notices: a rehearsal has it only when it is asked for.
    package var postage: RealWorld? { stage?.mayNotify == true ? RealWorld() : world }

    /// The right to change the world, for an act that no rehearsal comes to.
    func demandWorld() throws(CommandError) -> RealWorld {
        guard let world else {
            throw CommandError(.internal, "a rehearsal was about to touch something real")
        }
        return world
    }

    // MARK: Files

    /// A key or a list that may be replaced; nil for what only reads.
    package func file(_ path: String) -> OutsideFile? {
        if let stage { return stage.copy(of: path) }
        return world == nil ? nil : OutsideFile(AbsolutePath.of(path))
    }

    /// The same for a credential, which is read by its name.
    package func credential(_ name: String, at path: String) -> OutsideFile? {
        if let stage { return stage.credential(name, of: path) }
        return file(path)
    }

    /// The path from which a file is read: that of its copy, when a rehearsal has changed it.
    package func current(_ path: String) -> String {
        stage?.copy(of: path)?.copied ?? path
    }

    /// The path of a credential that a rehearsal has changed; nil when it has not.
    func current(credential name: String) -> String? {
        stage?.credential(name, of: nil)?.copied
    }

    // MARK: The state directory

    /// Opens the state directory for work on vehicles; refuses one in which the other kind of work
    /// was done.
    ///
    /// What was done to simulated vehicles was not done to real ones.
    package func prepare(_ state: String) throws(CommandError) -> StateDirectory {
        let directory = try StateDirectory.prepared(at: state)
        try refuseMixture(state)
        if let code = call.keep(in: state) {
            throw CommandError(
                .cannotWrite,
                "\(DirectoryCall.path(in: state)) cannot be written",
                because: [Descriptor.text(of: code)]
            )
        }
        return directory
    }

    private func refuseMixture(_ state: String) throws(CommandError) {
        guard let found = Self.work(in: state), found.isReal == (stage != nil) else { return }
        throw CommandError(
            .configuration,
            "\(state) is the state directory of \(found.isReal ? "real" : "simulated") vehicles: "
                + found.words,
            hint: found.isReal
                ? "give the rehearsal a directory of its own with --state"
                : "name another directory with --state, or add --simulate DEPOT.yaml"
        )
    }

    /// What was done in a state directory last; nil when that is nothing, or cannot be read.
    private static func work(in state: String) -> (isReal: Bool, words: String)? {
        let found = try? JournalReader(directory: state).read { view throws(JournalError) in
            if let last = try view.runs(rollout: nil, limit: 1).first {
                return (last as RunRecord?, true)
            }
            if try !view.enrolments().isEmpty { return (nil, true) }
            return (nil, try !view.inventory().isEmpty)
        }
        guard let (last, hasModules) = found else { return nil }
        if let last {
            let isReal = last.seed == nil
            return (
                isReal,
                "its last run, \(last.number) of \(last.rollout.visible), was "
                    + (isReal ? "not simulated" : "simulated")
            )
        }
        guard hasModules else { return nil }
        let isReal = DirectoryCall.of(state)?.isRehearsal != true
        return (isReal, "modules were \(isReal ? "" : "simulated and ")enrolled or read there")
    }
}

/// The right to change the world: the radio, key files, fleet lists, programs that act, notices.
///
/// Only `Reach` makes one, and a rehearsal gets none.
package struct RealWorld: Sendable {
    fileprivate init() {}

    /// A program that acts: it sends a notice, or keeps a secret.
    package func program(_ words: [String]) -> FedProgram { FedProgram(words) }

    /// A request that changes something at its receiver.
    func post(
        to address: WebAddress,
        headers: [(name: String, value: String)],
        body: [UInt8]
    ) -> WebPost {
        WebPost(to: address, headers: headers, body: body)
    }

    /// Several requests of that kind.
    package func session(_ settings: FetchSettings) throws(DownloadError) -> WebSession {
        try WebSession(settings)
    }
}

/// The place of a rehearsal: its simulated depot, and the directory below which it writes.
package struct Stage: Sendable {
    let simulation: SimulationOptions
    /// Nil for a command that keeps nothing.
    let state: String?
    fileprivate let mayNotify: Bool

    /// Below it are the copies, each by the path of its original.
    private var folder: String? { state.map { AbsolutePath.of($0) + "/rehearsed" } }

    fileprivate func copy(of path: String) -> OutsideFile? {
        let path = AbsolutePath.of(path)
        return folder.map { OutsideFile("\($0)/files\(path)", original: path) }
    }

    fileprivate func credential(_ name: String, of path: String?) -> OutsideFile? {
        folder.map { OutsideFile("\($0)/credentials/\(name)", original: path ?? "") }
    }
}

/// A file outside the state directory that a command may replace, such as a key or a fleet list; in
/// a rehearsal, the copy of it below the state directory.
package struct OutsideFile: Sendable {
    /// The files that belong to a key, by what is added to its name.
    static let endings = ["", ".before", ".undone", ".new"]

    /// The path that is written.
    package let path: String
    /// The file that the copy is made of; nil when the file itself is replaced.
    private let original: String?

    fileprivate init(_ path: String, original: String? = nil) {
        self.path = path
        self.original = original
    }

    /// The path from which it, or a file beside it, is read now.
    package func current(_ ending: String = "") -> String {
        guard let original, copied == nil else { return path + ending }
        return original + ending
    }

    /// The path of the copy; nil when there is none yet.
    fileprivate var copied: String? {
        original != nil && Self.endings.contains { access(path + $0, F_OK) == 0 } ? path : nil
    }

    /// Makes what the first change needs: the folder, and in a rehearsal the copies.
    ///
    /// Returns the error number.
    package func prepare() -> CInt? {
        guard let original else {
            Draft.makeFolder(of: path)
            return nil
        }
        guard copied == nil else { return nil }
        StateDirectory.makeFolders(above: path)
        for ending in Self.endings {
            guard let (bytes, mode) = Self.content(original + ending) else { continue }
            // A copy is for its owner alone, also of a sample's key that everybody may read.
            if let code = Draft.write(bytes, to: path + ending, mode: mode & 0o700, isExact: true) {
                return code
            }
        }
        return nil
    }

    /// The content and mode of a file; nil when it cannot be read; who needs it reports that.
    private static func content(_ path: String) -> (bytes: [UInt8], mode: UInt32)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &part, part.count)
            guard count > 0 else { return count == 0 ? (bytes, status.st_mode & 0o777) : nil }
            bytes += part[..<count]
        }
    }
}
