import Base
package import Commands
import Families
package import Manifest
package import Radio

/// The profiles that a command uses.
package enum ProfileFolder {
    /// The profiles for a plan: those of the command line have precedence over those of the
    /// manifest, and both over the shipped ones.
    package static func library(
        of plan: FrozenPlan,
        _ common: CommonOptions,
        _ context: Context
    ) throws(CommandError) -> ProfileLibrary {
        let (library, diagnostics) = try library(of: plan, common)
        if diagnostics.contains(where: { $0.severity == .error }) {
            Inputs.tell(diagnostics, context)
            throw Inputs.invalid(plan.profiles ?? "", diagnostics)
        }
        return library
    }

    /// The same, with the faults in the manifest's folder.
    static func library(
        of plan: FrozenPlan,
        _ common: CommonOptions
    ) throws(CommandError) -> (ProfileLibrary, [Diagnostic]) {
        guard let folder = plan.profiles else { return (common.profiles, []) }
        let diagnostics = Diagnostics()
        do throws(FileError) {
            var library = try ProfileLibrary.shipped.adding(folder: folder, diagnostics)
            if let own = common.profileFolder {
                // Its faults were reported when the command line was read.
                library = try library.adding(folder: own, Diagnostics())
            }
            return (library, diagnostics.list)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "`profiles` in the manifest names a folder of YAML files"
            )
        }
    }

    /// The operator's profiles that a plan can use, each with the digest of its file.
    static func digests(
        of plan: FrozenPlan,
        _ common: CommonOptions
    ) throws(CommandError) -> [(name: String, digest: SHA256Digest)] {
        var digests: [(name: String, digest: SHA256Digest)] = []
        for folder in [plan.profiles, common.profileFolder].compactMap(\.self) {
            do throws(FileError) {
                for name in try ProfileLibrary.files(in: folder) {
                    let bytes = try TextFile.read(path: folder + "/" + name, limit: 1 << 20)
                    digests.append((name, SHA256.digest(of: bytes)))
                }
            } catch { throw CommandError(.inputMissing, error.description) }
        }
        return digests
    }

    /// The shipped profiles, and those of the folder that `--profiles` names.
    package static func library(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> ProfileLibrary {
        guard let folder = invocation[Command.profiles] else { return .shipped }
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
