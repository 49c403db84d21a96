import Base
package import Commands
import Images
package import Manifest
import Operations
import Store

/// The manifest that carries out a server's actions: the given one, with only the vehicles that have
/// an action, each with its image.
///
/// It is beside the given one, so that the paths in both mean the same.
package struct ServedManifest {
    private static let ending = "-servers"

    /// The given manifest as it is written.
    private let members: [JSONMember]
    private let plan: FrozenPlan
    private let path: String

    /// Refuses a manifest that says itself what its vehicles get.
    package init(
        _ bytes: [UInt8],
        at path: String,
        _ plan: FrozenPlan
    ) throws(CommandError) {
        self.path = path
        self.plan = plan
        let tree = SourceNode.parse(bytes, file: path, Diagnostics())
        members = tree?.json.members ?? []
        guard Self.rollout(of: plan).utf8.count <= 64 else {
            throw Self.refusal(path, "its name is longer than \(64 - Self.ending.utf8.count)")
        }
        for step in plan.vehicles.flatMap(\.steps) {
            if step.update != nil {
                throw Self.refusal(path, "\(step.place) has an update, and the server says which")
            }
            if case .rotate = step.action {
                throw Self.refusal(path, "\(step.place) has `rotate`, which takes the whole list")
            }
        }
        let list = members.first { $0.name == "vehicles" }?.value
        let rows = list?.array ?? list?["from"]?.array ?? []
        let isOwn = plan.vehicles.contains { $0.steps.contains { $0.place.file != path } }
        guard !isOwn, !rows.contains(where: { $0["steps"] != nil }) else {
            throw Self.refusal(path, "a vehicle in its list has steps of its own")
        }
    }

    private static func refusal(_ path: String, _ why: String) -> CommandError {
        CommandError(
            .manifest,
            "\(path) cannot take its updates from a server",
            because: [why],
            hint: "it needs the vehicles, and `steps` without `update` for all of them"
        )
    }

    /// The name of the rollout that carries out the actions.
    package static func rollout(of plan: FrozenPlan) -> String { plan.name + ending }

    /// Its path: `tallinn.yaml` becomes `tallinn.servers.yaml`.
    package var target: String {
        for ending in [".yaml", ".yml", ".json"] where path.hasSuffix(ending) {
            return path.dropLast(ending.utf8.count) + ".servers.yaml"
        }
        return path + ".servers.yaml"
    }

    /// The text for these actions, each with its vehicle.
    func text(_ actions: [(action: ServerAction, image: SHA256Digest)], store: String) -> String {
        let vehicles = Dictionary(plan.vehicles.map { ($0.serial, $0) }) { first, _ in first }
        var images: [JSONMember] = []
        var rows: [JSONValue] = []
        for (action, digest) in actions {
            guard let vehicle = vehicles[action.serial], let terms = ServedImage(action.terms)
            else { continue }
            if !images.contains(where: { $0.name == terms.name }) {
                images.append(JSONMember(terms.name, image(terms, digest, store)))
            }
            rows.append(row(vehicle, terms))
        }
        let own: [JSONMember] = [
            JSONMember("name", .string(Self.rollout(of: plan))),
            JSONMember("vehicles", .array(rows)),
            JSONMember("images", .object(images)),
        ]
        let rest = members.filter { !["name", "vehicles", "images", "steps"].contains($0.name) }
        let lines = (own + rest).map { member in
            JSONValue.string(member.name).text + ": " + Self.lines(of: member.value)
        }
        return "# Made by 'yardmaster sync': the next one replaces it.\n{\n"
            + lines.joined(separator: ",\n") + "\n}\n"
    }

    /// A list has a line for each entry, for people who look at it.
    private static func lines(of value: JSONValue) -> String {
        guard let list = value.array, !list.isEmpty else { return value.text }
        return "[\n  " + list.map(\.text).joined(separator: ",\n  ") + "\n]"
    }

    private func image(
        _ terms: ServedImage,
        _ digest: SHA256Digest,
        _ store: String
    ) -> JSONValue {
        let path = StoreFolder(stateDirectory: store).path(of: digest)
        return .object(
            [
                JSONMember("url", .string(FileReference.url(path))),
                JSONMember("sha256", .string(digest.description)),
                JSONMember("version", .string(terms.version)),
            ] + terms.image
        )
    }

    /// The steps of the manifest, with the update after the conditions at their beginning.
    private func steps(_ terms: ServedImage) -> JSONValue {
        let steps = members.first { $0.name == "steps" }?.value.array ?? []
        let conditions = steps.prefix { $0["require"] != nil }
        let update = JSONValue.object([
            JSONMember(
                "update",
                .object([JSONMember("to", .string(terms.name))] + terms.update)
            )
        ])
        return .array(conditions + [update] + steps.dropFirst(conditions.count))
    }

    /// The vehicle as a manifest names it.
    private func row(_ vehicle: PlannedVehicle, _ terms: ServedImage) -> JSONValue {
        let issuer = vehicle.issuer.map { issuer -> JSONValue in
            switch issuer.way {
            case .command(let words): .object(["command": .array(words.map { .string($0) })])
            case .url(let url, let key):
                .object(["url": .string(url), "key": key.map { .string("\($0)") }])
            }
        }
        let own = JSONValue.object([
            "id": .string(vehicle.id.text), "serial": .string(vehicle.serial.text),
            "family": .string(vehicle.family.rawValue), "profile": .string(vehicle.profile),
            "secret": vehicle.secret.map { .string("\($0)") },
            "token": vehicle.token.map { .string("\($0)") } ?? issuer,
            "go-serial": vehicle.goSerial.map { .string($0.text) },
            "hardware-id": vehicle.hardwareID.map { .integer(Int64($0)) },
            "pairing": vehicle.bond.pairing.map { .string($0.rawValue) },
            "passkey": vehicle.bond.passkey.map { .string("\($0)") },
            "renew-bond": vehicle.bond.mayRenew ? true : nil,
        ])
        let labels = vehicle.labels.map { JSONMember($0.name, .string($0.value)) }
        return .object(
            (own.members ?? []) + labels + [JSONMember("steps", steps(terms))]
        )
    }
}
