import Commands
import Families
import Marked
import Modules

/// The profiles that a command works with.
enum ProfileFolder {
    /// Those that are shipped, and those of the folder that `--profiles` names.
    static func library(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> ProfileLibrary {
        guard let folder = invocation.value("profiles") else { return .shipped }
        return try library(folder, context)
    }

    static func library(
        _ folder: String,
        _ context: Context
    ) throws(CommandError) -> ProfileLibrary {
        let diagnostics = Diagnostics()
        let library: ProfileLibrary
        do throws(FileError) {
            library = try ProfileLibrary.shipped.adding(folder: folder, diagnostics)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "--profiles names a folder of YAML files"
            )
        }
        Inputs.tell(diagnostics.list, context)
        guard !diagnostics.hasErrors else { throw Inputs.invalid(folder, diagnostics.list) }
        return library
    }
}
