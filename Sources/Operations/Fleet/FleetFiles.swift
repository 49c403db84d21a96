import Base
import Commands
import Glibc

/// The files that making and joining a fleet writes: those of a server, and those of a gateway.
struct FleetFiles {
    private static let limit = 1_048_576

    let folder: String

    /// Only for what changes this machine.
    init(_ folder: String, _ context: Context) throws(CommandError) {
        _ = try context.reach.demandWorld()
        self.folder = folder
    }

    func path(_ name: String) -> String { folder + "/" + name }
    func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    func text(_ name: String) throws(CommandError) -> String {
        do throws(FileError) {
            let bytes = try TextFile.read(path: path(name), limit: Self.limit)
            return String(decoding: bytes, as: UTF8.self)
        } catch { throw CommandError(.configuration, error.description) }
    }

    /// Replaces a file, which keeps its owner, or gets its folder's, unless one is named.
    func write(
        _ name: String,
        _ text: String,
        mode: UInt32,
        for owner: Owner? = nil
    ) throws(CommandError) {
        let target = path(name)
        if let code = Draft.write(
            Array(text.utf8),
            to: target,
            mode: mode,
            isExact: true,
            ownedAs: target,
            ownedBy: owner
        ) {
            throw Self.fault(target, code)
        }
    }

    /// Writes a file that only its owner can read: the user of the runs, or the folder's owner.
    func write(secret text: String, _ name: String) throws(CommandError) {
        try write(name, text, mode: 0o600, for: Owner(named: "yardmaster"))
    }

    func rename(_ name: String, to other: String) throws(CommandError) {
        do throws(FileFault) {
            try FilePlace.rename(path(name), to: path(other))
            Draft.sync(folderOf: path(other))
        } catch { throw Self.fault(path(other), error.code) }
    }

    private static func fault(_ path: String, _ code: CInt) -> CommandError {
        CommandError(
            .cannotWrite,
            "\(path): \(Descriptor.text(of: code))",
            hint: code == EACCES || code == EPERM ? "run it as root" : nil
        )
    }
}
