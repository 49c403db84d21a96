import Base
import Commands
import Manifest
import Operations
import Servers

/// The file that names the update servers of this machine.
enum ServersFile {
    /// The servers of the machine, for state directories without a file of their own.
    static let machine = "/etc/yardmaster/servers.yaml"

    /// The server of this name, or the only one.
    static func server(
        named name: String?,
        in state: String
    ) throws(CommandError) -> ServerSettings {
        let own = state + "/servers.yaml"
        let (path, bytes) = try read([own, machine])
        let (servers, diagnostics) = ServersReader.read(bytes, path: path)
        guard let servers else {
            throw CommandError(
                .manifest,
                "\(path) is not right",
                because: diagnostics.map { "\($0)" }
            )
        }
        let names = servers.map(\.name).joined(separator: ", ")
        if let name {
            if let server = servers.first(where: { $0.name == name }) { return server }
            throw CommandError(
                .usage,
                "\(path) has no server \(name.visible)",
                hint: servers.isEmpty ? "name it there" : "there are: \(names)"
            )
        }
        guard let server = servers.first, servers.count == 1 else {
            throw CommandError(
                .usage,
                servers.isEmpty ? "\(path) names no server" : "\(path) names several servers",
                hint: servers.isEmpty ? "name one there" : "say which with --server: \(names)"
            )
        }
        return server
    }

    private static func read(_ paths: [String]) throws(CommandError) -> (String, [UInt8]) {
        for path in paths {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try TextFile.read(path: path, limit: ServersReader.mostBytes)
            } catch {
                guard error.reason != .missing else { continue }
                throw CommandError(.inputMissing, "\(path) cannot be read", because: ["\(error)"])
            }
            // It decides which images are trusted, and may name programs.
            guard let doubt = Authorship.doubt(path) else { return (path, bytes) }
            throw CommandError(
                .configuration,
                "\(path) is not obeyed: somebody else could have written it",
                because: [doubt.cause],
                hint: doubt.remedy
            )
        }
        throw CommandError(
            .inputMissing,
            "no update server is named",
            hint: "name it in \(paths.joined(separator: " or "))"
        )
    }

    /// The values that stand in braces.
    static func values(of vehicle: PlannedVehicle) -> [(name: String, value: String)] {
        [
            ("id", vehicle.id.text), ("serial", vehicle.serial.text),
            ("family", vehicle.family.rawValue), ("profile", vehicle.profile),
        ] + vehicle.labels.map { ($0.name, $0.value) }
    }

    /// The id of a vehicle at the server.
    static func controller(
        of vehicle: PlannedVehicle,
        at server: ServerSettings
    ) -> String {
        Template.fill(server.controller, values(of: vehicle))
    }

    /// The references to the tokens, by controllers; that of the gateway has an empty name.
    static func references(
        of server: ServerSettings,
        for vehicles: [PlannedVehicle]
    ) throws(CommandError) -> [(controller: String, owner: String, secret: SecretReference)] {
        switch server.credential {
        case .none: return []
        case .gateway(let reference): return [("", "the server \(server.name)", reference)]
        case .controllers(let template):
            return try vehicles.map { (vehicle) throws(CommandError) in
                let text = Template.fill(template, values(of: vehicle))
                guard
                    let reference = try? SecretReference(text, relativeTo: server.directory)
                else {
                    throw CommandError(
                        .manifest,
                        "\(server.place): vehicle \(vehicle.id) has no token",
                        hint: "`controller-token` is not a reference with its values"
                    )
                }
                let owner = "vehicle \(vehicle.id) at \(server.name)"
                return (controller(of: vehicle, at: server), owner, reference)
            }
        }
    }

    /// The tokens by controllers; that of the gateway has an empty name.
    static func tokens(
        of server: ServerSettings,
        for vehicles: [PlannedVehicle],
        _ context: Context
    ) throws(CommandError) -> [String: Secret] {
        var tokens: [String: Secret] = [:]
        for (controller, owner, reference) in try references(of: server, for: vehicles) {
            let secret = try SecretSource(context: context).read(reference, of: owner)
                .withBytes { Secret(Array($0.prefix { $0 != 0x0A && $0 != 0x0D })) }
            let isText = secret.withBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
            guard isText else {
                throw CommandError(
                    .configuration,
                    "the token of \(owner) cannot be one",
                    hint: "check \(reference): it must contain one line without spaces"
                )
            }
            tokens[controller] = secret
        }
        return tokens
    }
}
