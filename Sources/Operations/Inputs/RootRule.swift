import Base
package import Commands
package import Glibc
import Show

/// The rule for root: it changes nothing in a directory of another user.
///
/// Its owner could exchange any file there for a link or a program of his own, and root would write or run it. What
/// root makes there, the owner's next run could not open.
package enum RootRule {
    /// Refuses root in a directory of somebody else, with the line that does the same as its owner.
    ///
    /// A directory that is missing belongs to the owner of the one that it would be made in. `more` is added to the line.
    package static func demand(
        _ directory: String,
        more: String = "",
        line: [String] = CommandLine.arguments,
        user: uid_t = geteuid()
    ) throws(CommandError) {
        guard user == 0 else { return }
        let owner: Owner?
        do throws(FileFault) { owner = try Owner.ofFolder(directory) } catch {
            guard error.code == ELOOP else { return }
            throw CommandError(
                .configuration,
                "root changes nothing in \(directory.visible)",
                because: ["a link of another user leads there"],
                hint: "name the directory itself"
            )
        }
        guard let owner, owner.id != 0 else { return }
        throw CommandError(
            .configuration,
            "root changes nothing in \(directory.visible), which belongs to \(owner)",
            because: ["\(owner) decides what is in it, and could not use what root leaves there"],
            hint: Self.line(as: owner, line, more)
        )
    }

    /// The same command line, for another user.
    static func line(as owner: Owner, _ line: [String], _ more: String = "") -> String {
        let words = line.dropFirst().map { NextStep.quoted($0) }
        return ([owner.sudo, "yardmaster"] + words).joined(separator: " ") + more
    }
}
