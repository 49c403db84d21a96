package import Base
package import Commands

/// A folder of the state directory that has a file for each rollout, under the rollout's name.
struct RolloutFolder {
    /// The most bytes of a file.
    static let limit = 64 << 20

    let path: String

    /// The rollouts that have a file.
    var names: [String] {
        ((try? Folder.open(path).names()) ?? []).filter { !Draft.isName($0) }
    }

    func path(of rollout: String) -> String { "\(path)/\(rollout)" }

    /// Nil when there is no such file.
    func bytes(of rollout: String) -> [UInt8]? {
        try? TextFile.read(path: path(of: rollout), limit: Self.limit)
    }

    /// `what` is kept, for the sentence about an error.
    func keep(_ bytes: [UInt8], of rollout: String, _ what: String) throws(CommandError) {
        let sentence = "\(what) cannot be kept in \(path(of: rollout))"
        do throws(FileFault) { try FilePlace.makeFolder(path) } catch {
            throw CommandError(.cannotWrite, sentence, because: [error.description])
        }
        try Draft.demand(bytes, to: path(of: rollout), mode: 0o600, .cannotWrite, sentence)
    }
}

extension Draft {
    /// Writes a whole file, or throws with this sentence.
    package static func demand(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32,
        _ kind: CommandError.Kind,
        _ sentence: String
    ) throws(CommandError) {
        guard let code = write(bytes, to: path, mode: mode) else { return }
        throw CommandError(kind, sentence, because: [Descriptor.text(of: code)])
    }
}
