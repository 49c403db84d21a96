import Base
import Families

/// Converts the rows of a fleet list to vehicles, and checks them one by one and together.
struct FleetReader {
    static let mostVehicles = 100_000

    let diagnostics: Diagnostics
    let steps: StepReader
    /// The manifest's directory, to which `file:` paths are relative.
    let directory: String

    /// A vehicle that may still need the manifest's steps.
    struct Vehicle {
        let id: VehicleID
        let serial: Serial
        let family: Family
        let profile: String
        let secret: SecretReference?
        let token: SecretReference?
        var issuer: TokenIssuer?
        let goSerial: Serial?
        let hardwareID: UInt32?
        let bond: PlannedBond
        let labels: [Label]
        let ownSteps: [Step]?
        let place: Place
        let serialPlace: Place
        let secretPlace: Place?
        let tokenPlace: Place?
        let passkeyPlace: Place?
    }

    /// The rows of a vehicle list in the manifest itself.
    func rows(_ items: [SourceNode]) -> [FleetRow] {
        items.compactMap { node in
            var reader = FieldReader(node, diagnostics, as: "a vehicle")
            var row = FleetRow(at: node.place)
            row.id = cell(reader.node("id"))
            row.serial = cell(reader.node("serial"))
            row.family = cell(reader.node("family"))
            row.profile = cell(reader.node("profile", .optional))
            row.secret = cell(reader.node("secret", .optional))
            let token = reader.node("token", .optional)
            if let token, case .map = token.value {
                row.issuer = TokenIssuerReader(diagnostics: diagnostics, directory: directory)
                    .issuer(token)
            } else {
                row.token = cell(token)
            }
            row.goSerial = cell(reader.node("go-serial", .optional))
            row.hardwareID = cell(reader.node("hardware-id", .optional))
            row.pairing = cell(reader.node("pairing", .optional))
            row.passkey = cell(reader.node("passkey", .optional))
            row.renewsBond = cell(reader.node("renew-bond", .optional))
            row.steps = reader.node("steps", .optional).map(FleetRow.Steps.node)
            var labels: [String: Place] = [:]
            for entry in reader.keys where !FleetRow.columns.contains(entry.key) {
                let meant = FleetRow.misspelling(entry.key) { !reader.has($0) }
                if let meant {
                    FleetRow.reportMisspelling(
                        entry.key,
                        at: entry.keyPlace,
                        meant: meant,
                        diagnostics
                    )
                    reader.excuse(meant)
                } else if let first = labels.updateValue(
                    entry.keyPlace,
                    forKey: Label.name(entry.key)
                ) {
                    diagnostics.error(
                        entry.keyPlace,
                        "the label \(quoted(entry.key)) occurs twice",
                        hint: "the first one is at \(first); remove one of them"
                    )
                } else if let value = cell(reader.node(entry.key)) {
                    row.labels.append((entry.key, value))
                }
                reader.know(entry.key)
            }
            reader.finish()
            guard case .map = node.value else { return nil }
            return row
        }
    }

    private func cell(_ node: SourceNode?) -> Cell? {
        guard let node else { return nil }
        return node.text(diagnostics).map { Cell($0, at: node.place) }
    }

    /// The vehicles of the valid rows.
    func vehicles(_ rows: [FleetRow]) -> [Vehicle] {
        var ids: [VehicleID: Place] = [:]
        var serials: [Serial: Place] = [:]
        var vehicles: [Vehicle] = []
        for (index, row) in rows.enumerated() where !diagnostics.isFull {
            guard index < Self.mostVehicles else {
                diagnostics.error(
                    row.place,
                    "more than \(Self.mostVehicles) vehicles",
                    hint: "split the fleet over several files"
                )
                break
            }
            guard let vehicle = vehicle(row) else { continue }
            let isNewID = isNew(vehicle.id, "id", at: row.id?.place ?? row.place, &ids)
            let isNewSerial = isNew(
                vehicle.serial,
                "serial",
                at: row.serial?.place ?? row.place,
                &serials
            )
            if isNewID, isNewSerial { vehicles.append(vehicle) }
        }
        return vehicles
    }

    private func isNew<Key: Hashable & CustomStringConvertible>(
        _ key: Key,
        _ what: String,
        at place: Place,
        _ seen: inout [Key: Place]
    ) -> Bool {
        if let first = seen[key] {
            diagnostics.error(
                place,
                "the \(what) \(quoted(key.description)) occurs twice",
                hint: "the first one is at \(first); each vehicle needs its own"
            )
            return false
        }
        seen[key] = place
        return true
    }

    private func vehicle(_ row: FleetRow) -> Vehicle? {
        let id = checked(row.id, .vehicleID)
        let family = row.family.flatMap(readFamily)
        let serial = readSerial(row.serial)
        let profile = row.profile.map { checked($0, .profile) } ?? "generic"
        let secret = row.secret.map(readSecret)
        let token = row.token.map(readSecret)
        let goSerial = readSerial(row.goSerial)
        let hardwareID = row.hardwareID.flatMap(readHardwareID)
        let bond = bond(row)
        let own = row.steps.map { source in
            switch source {
            case .cell(let cell): StepText.steps(cell, steps)
            case .node(let node): steps.steps(node, .steps)
            }
        }
        guard let id, let family, let serial, let profile, let vehicleID = VehicleID(id) else {
            return nil
        }
        return Vehicle(
            id: vehicleID,
            serial: serial,
            family: family,
            profile: profile,
            secret: secret ?? nil,
            token: token ?? nil,
            issuer: row.issuer,
            goSerial: goSerial,
            hardwareID: hardwareID,
            bond: bond,
            labels: row.labels.filter { !$0.cell.text.isEmpty }
                .map { Label($0.name, $0.cell.text) }.sorted { $0.name < $1.name },
            ownSteps: own,
            place: row.place,
            serialPlace: row.serial?.place ?? row.place,
            secretPlace: row.secret?.place,
            tokenPlace: row.token?.place,
            passkeyPlace: row.passkey?.place
        )
    }

    private func bond(_ row: FleetRow) -> PlannedBond {
        var bond = PlannedBond()
        bond.pairing = row.pairing.flatMap { word($0, PairingKind.self, "a way of pairing") }
        bond.passkey = row.passkey.flatMap(readSecret)
        bond.mayRenew =
            row.renewsBond.flatMap { word($0, Answer.self, "`true` or `false`") } == .true
        switch bond.pairing {
        case .passkey where row.passkey == nil:
            diagnostics.error(
                row.pairing?.place ?? row.place,
                "pairing by passkey, and no `passkey` to do it with",
                hint: "name where the six digits are kept, as in `passkey: file:keys/v1.passkey`"
            )
        case .some(.none), .justWorks:
            guard let passkey = row.passkey else { break }
            diagnostics.error(
                passkey.place,
                "a passkey, and pairing that takes none",
                hint: "write `pairing: passkey`, or remove the passkey"
            )
        case .passkey, nil: break
        }
        return bond
    }

    private enum Answer: String, CaseIterable { case `true`, `false` }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ cell: Cell,
        _ type: Word.Type,
        _ title: String
    ) -> Word? where Word.RawValue == String {
        if let word = Word(rawValue: cell.text) { return word }
        diagnostics.error(
            cell.place,
            "\(quoted(cell.text)) is not \(title)",
            hint: Nearest.hint(cell.text, among: Word.allCases.map(\.rawValue))
        )
        return nil
    }

    /// A cell's text in a form; nil after an error.
    private func checked(_ cell: Cell?, _ form: Form) -> String? {
        guard let cell else { return nil }
        guard !cell.text.isEmpty else {
            diagnostics.error(cell.place, "\(form.title) is missing here", hint: form.hint)
            return nil
        }
        guard form.accepts(cell.text) else {
            diagnostics.error(
                cell.place,
                "\(quoted(cell.text)) is not \(form.title)",
                hint: form.hint
            )
            return nil
        }
        return cell.text
    }

    private func readFamily(_ cell: Cell) -> Family? {
        if let family = FamilyRegistry.family(named: cell.text) { return family }
        diagnostics.error(
            cell.place,
            cell.text.isEmpty
                ? "the family is missing here" : "\(quoted(cell.text)) is not a family of modules",
            hint: Nearest.hint(cell.text, among: FamilyRegistry.families.map(\.rawValue))
        )
        return nil
    }

    private func readSerial(_ cell: Cell?) -> Serial? {
        guard let cell, let text = checked(cell, .serial) else { return nil }
        return Serial(text)
    }

    private func readHardwareID(_ cell: Cell) -> UInt32? {
        let range = Grammar.hardwareIDs
        if let number = PlainNumber.integer(cell.text), range.contains(number) {
            return UInt32(number)
        }
        diagnostics.error(
            cell.place,
            "\(quoted(cell.text)) is not a hardware id",
            hint: "write the number that `yardmaster token show` prints as the hardware id"
        )
        return nil
    }

    /// Text that is not a reference may be the secret itself, so no error contains it.
    private func readSecret(_ cell: Cell) -> SecretReference? {
        do throws(SecretReference.ParseError) {
            let reference = try SecretReference(cell.text, relativeTo: directory)
            if case .environment(let name) = reference {
                diagnostics.warning(
                    cell.place,
                    "the secret comes from the environment (`\(name)`)",
                    hint: "other processes may read it; prefer `credential:NAME` or `file:PATH`"
                )
            }
            return reference
        } catch {
            let message =
                switch error {
                case .notAReference: "a secret must be a reference, not the secret itself"
                case .emptyName: "the secret reference names nothing"
                case .badName: "the secret reference has a name that cannot be one"
                }
            diagnostics.error(cell.place, message, hint: Form.secret.hint)
            return nil
        }
    }
}
