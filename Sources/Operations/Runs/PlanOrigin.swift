import Base
package import Show

/// What the plan of a run is made from.
package enum PlanOrigin: Sendable {
    case manifest(String)
    /// `exec`: an order for vehicles that a manifest lists; with its arguments.
    case order([String], manifest: String)
    /// `update`: an image file for modules, with the words that name them.
    case image(String, modules: [String])
    /// `rollback`: a rollout, with the other words of the command.
    case rollback(String, words: [String])

    var file: String {
        switch self {
        case .manifest(let file), .order(_, let file), .image(let file, _), .rollback(let file, _):
            file
        }
    }

    /// Where the adapters are named.
    var placeOfAdapters: String {
        switch self {
        case .manifest(let file), .order(_, let file): "under `radio` in \(file)"
        case .image: "with --adapter"
        case .rollback(let rollout, _): "under `radio` in the manifest of \(rollout)"
        }
    }

    /// Whether the same command goes on where an earlier one was cut off; commands are not repeated.
    var goesOn: Bool {
        switch self {
        case .manifest, .image, .rollback: true
        case .order: false
        }
    }

    /// The command that begins the same again.
    package func again(_ flags: PlaceFlags) -> String {
        let file = AbsolutePath.of(file)
        let path = NextStep.quoted(file)
        return switch self {
        case .manifest: flags.again(file)
        case .order(let words, _):
            flags.line("exec --manifest \(path)", words.map(NextStep.quoted).joined(separator: " "))
        case .image(_, let modules):
            flags.line("update", ([path] + modules).joined(separator: " "))
        case .rollback(let rollout, let words):
            flags.line("rollback", ([rollout] + words).map(NextStep.quoted).joined(separator: " "))
        }
    }
}
