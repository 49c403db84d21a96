import Base
import Glibc
import Radio

extension Profile {
    /// What opens a module whose secret is not given; nil where the profile names nothing.
    func readDefaultKey() throws(ModuleFailure) -> Secret? {
        switch defaultKey {
        case .file(let file)?: return try read(file.path)
        case .credential(let name)?:
            return try read(
                variable("CREDENTIALS_DIRECTORY") + "/" + name,
                forbidding: SecretFile.openCredential
            )
        case .environment(let name)?: return Secret(Array(try variable(name).utf8))
        case nil: return nil
        }
    }

    private func read(
        _ path: String,
        forbidding forbidden: UInt32 = SecretFile.openToOthers
    ) throws(ModuleFailure) -> Secret {
        do throws(SecretFile.Fault) {
            return try SecretFile.read(path, forbidding: forbidden, shorterThan: 4_096)
        } catch { throw unreadable(error.sentence(of: path)) }
    }

    private func variable(_ name: String) throws(ModuleFailure) -> String {
        if let text = getenv(name).flatMap({ String(validatingCString: $0) }) {
            return text
        }
        throw unreadable("there is no variable \(name) in the environment")
    }

    private func unreadable(_ cause: String) -> ModuleFailure {
        ModuleFailure(
            .invalidFile,
            "the default key of profile \(family.rawValue)/\(name) cannot be read: \(cause)",
            "put it there, for its owner alone, or give the module's secret"
        )
    }
}
