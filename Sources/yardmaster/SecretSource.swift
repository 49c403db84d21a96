import Commands
import Domain
import Glibc
import Manifest
import Sessions
import Wire

/// Fetches the secrets that a plan refers to; what it reads goes nowhere but into a key.
struct SecretSource {
    /// The longest secret is a car-share token.
    private static let limit = CarShareToken.longestText + 1

    let context: Context

    /// The key of a vehicle's module.
    func key(for vehicle: PlannedVehicle) throws(CommandError) -> ComoduleKey {
        guard let reference = vehicle.secret else {
            throw CommandError(
                .manifest,
                "\(vehicle.place): vehicle \(vehicle.id) has no secret",
                hint: "name one in its `secret` column, as in file:keys/\(vehicle.id).key"
            )
        }
        let text = try read(reference, of: "vehicle \(vehicle.id)")
        do throws(ComoduleKeyError) {
            return try ComoduleKey(text)
        } catch {
            throw CommandError(
                .configuration,
                "the secret of vehicle \(vehicle.id) is no key of a module",
                because: [error.description],
                hint: "look at \(reference); it holds hex digits"
            )
        }
    }

    /// The text that a reference leads to; `owner` is said in errors.
    func read(
        _ reference: SecretReference,
        of owner: String
    ) throws(CommandError) -> Secret {
        switch reference {
        case .file(let file):
            return try read(path: file.path, of: owner)
        case .credential(let name):
            guard let directory = context.variable("CREDENTIALS_DIRECTORY") else {
                throw CommandError(
                    .configuration,
                    "\(owner) has its secret in credential:\(name)",
                    because: ["the service manager passed no credentials directory"],
                    hint: "add LoadCredential=\(name):PATH to the service"
                )
            }
            return try read(path: directory + "/" + name, of: owner)
        case .environment(let name):
            guard let value = context.variable(name) else {
                throw CommandError(
                    .inputMissing,
                    "\(owner) has its secret in env:\(name)",
                    because: ["there is no such variable in the environment"]
                )
            }
            return Secret(Array(value.utf8))
        }
    }

    /// Refuses a file that others can read: it would be no secret any more.
    func read(path: String, of owner: String) throws(CommandError) -> Secret {
        let sentence = "the secret of \(owner) cannot be read"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let kind: CommandError.Kind = errno == ENOENT ? .inputMissing : .configuration
            throw CommandError(kind, sentence, because: ["\(path): \(Descriptor.text(of: errno))"])
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.configuration, sentence, because: ["\(path) is no regular file"])
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path) can be read by other users"],
                hint: "chmod 600 \(path)"
            )
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path) belongs to another user"]
            )
        }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path): \(Descriptor.text(of: errno))"]
            )
        }
        guard count < Self.limit else {
            throw CommandError(.configuration, sentence, because: ["\(path) is too long for a key"])
        }
        return Secret(Array(bytes[..<count]))
    }
}
