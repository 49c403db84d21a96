import Commands
import Domain
import Families
import Journal
import Manifest
import Modules
import Radio
import SourceTree

/// One vehicle that is to be enrolled or taken out of service.
struct EnrolmentCandidate: Sendable {
    let vehicle: VehicleID
    /// Nil to take the module with the strongest signal, or the one with this name.
    var serial: Serial?
    var name: String?
    let profile: Profile
    let bond: BondPolicy
    let maker: Secret?
    /// The further cells of its row.
    let labels: [Cell]
    /// The file of its secret and the reference in the list; nil in a family without secrets.
    let file: OutsideFile?
    let reference: String?

    struct Cell: Sendable {
        let column: String
        let text: String
    }
}

/// Finds the vehicles to be enrolled, from the fleet list, the batch and the flags.
struct EnrolmentList: Sendable {
    let wish: EnrolmentWish
    let state: String
    let library: ProfileLibrary
    let context: Context

    func read(_ path: String) throws(CommandError) -> FleetFile {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: context.reach.current(path), limit: 32 << 20)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "make it with a first row such as: id,serial,family,profile,secret"
            )
        }
        let diagnostics = Diagnostics()
        guard let file = FleetFile(bytes, file: path, diagnostics) else {
            Inputs.tell(diagnostics.list, context)
            throw Inputs.invalid(path, diagnostics.list)
        }
        return file
    }

    func candidates() throws(CommandError) -> [EnrolmentCandidate] {
        let list = try read(wish.fleet)
        guard let batch = wish.batch else {
            guard let text = wish.vehicle, let id = VehicleID(text) else {
                throw CommandError(.usage, "'\((wish.vehicle ?? "").visible)' is no vehicle's id")
            }
            let listed = list.entries.first { $0.id == id.text }
            let left = wish.undoes && listed == nil ? leaving(id) : nil
            return [
                try candidate(
                    id,
                    serial: wish.serial ?? left?.serial.text
                        ?? (wish.name == nil ? listed?.serial : nil),
                    family: listed?.family ?? left?.family.rawValue ?? wish.family,
                    profile: listed?.profile ?? wish.profile,
                    old: wish.oldSecret,
                    passkey: wish.passkey ?? listed?.passkey,
                    labels: wish.passkey.map {
                        [EnrolmentCandidate.Cell(column: "passkey", text: $0)]
                    } ?? [],
                    list
                )
            ]
        }
        let pallet = try read(batch)
        let known: Set<String> = [
            "id", "serial", "family", "profile", "old-secret", "secret", "passkey",
        ]
        var candidates: [EnrolmentCandidate] = []
        for (number, row) in pallet.entries.enumerated() {
            guard let id = VehicleID(row.id) else {
                throw CommandError(.manifest, "\(batch): '\(row.id.visible)' is no vehicle's id")
            }
            let cells = pallet.cells(ofRow: number)
            candidates.append(
                try candidate(
                    id,
                    serial: row.serial,
                    family: row.family,
                    profile: row.profile ?? wish.profile,
                    old: cells.first { $0.column == "old-secret" }?.text ?? wish.oldSecret,
                    passkey: row.passkey ?? wish.passkey,
                    labels: cells.filter { !known.contains($0.column) && list.has($0.column) }
                        .map { EnrolmentCandidate.Cell(column: $0.column, text: $0.text) }
                        + ((row.passkey ?? wish.passkey).map {
                            [EnrolmentCandidate.Cell(column: "passkey", text: $0)]
                        }
                            ?? []),
                    list
                )
            )
        }
        return candidates
    }

    /// The record of a vehicle that was being taken out of service when the last run was
    /// interrupted.
    private func leaving(_ id: VehicleID) -> EnrolmentRecord? {
        let known = try? JournalReader(directory: state).read { view throws(JournalError) in
            try view.enrolments()
        }
        return known?.first { $0.vehicle == id && $0.stage == .leaving }
    }

    private func candidate(
        _ id: VehicleID,
        serial text: String?,
        family: String,
        profile: String,
        old: String?,
        passkey: String?,
        labels: [EnrolmentCandidate.Cell],
        _ list: FleetFile
    ) throws(CommandError) -> EnrolmentCandidate {
        guard let family = FamilyRegistry.family(named: family) else {
            throw CommandError(.usage, "'\(family.visible)' is not a family of modules")
        }
        let found: Profile
        do throws(PropertyMistake) { found = try library.require(profile, of: family) } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
        guard found.advertisement != nil else {
            throw CommandError(
                .usage,
                "devices of family \(family.rawValue) connect to us and are not enrolled by radio",
                hint: "add the vehicle to the fleet list by hand"
            )
        }
        let bond = try bond(of: id, found, passkey)
        var wanted: Serial?
        if let text {
            guard let serial = Serial(text) else {
                throw CommandError(.usage, "'\(text.visible)' is not a serial")
            }
            wanted = serial
        }
        let listed = list.entries.first { $0.id == id.text }
        if let listed, let wanted, Serial(listed.serial) != wanted {
            throw CommandError(
                .usage,
                "\(id) is listed with the serial \(listed.serial.visible)",
                hint: "'enrol --undo \(id)' takes it out of service first"
            )
        }
        if let other = list.entries.first(where: { $0.id != id.text && Serial($0.serial) == wanted }
        ),
            wanted != nil
        {
            throw CommandError(.usage, "that serial is listed as \(other.id.visible)")
        }
        if wish.undoes, listed == nil, leaving(id) == nil {
            throw CommandError(.usage, "\(wish.fleet) has no vehicle \(id)")
        }
        let maker = try old.map { (text) throws(CommandError) in try secret(text, of: id) }
        guard FamilyRegistry.secrets(of: family) != nil else {
            return EnrolmentCandidate(
                vehicle: id,
                serial: wanted,
                name: wish.name,
                profile: found,
                bond: bond,
                maker: nil,
                labels: labels,
                file: nil,
                reference: nil
            )
        }
        let (file, reference) = try place(of: id, listed?.secret ?? "")
        return EnrolmentCandidate(
            vehicle: id,
            serial: wanted,
            name: wish.name,
            profile: found,
            bond: bond,
            maker: maker,
            labels: labels,
            file: file,
            reference: reference
        )
    }

    /// The place in the list, or else a file of its own: in the folder of keys, or in that of
    /// credentials.
    private func place(
        of id: VehicleID,
        _ listed: String
    ) throws(CommandError) -> (file: OutsideFile?, reference: String) {
        func path(_ text: String) -> String {
            text.hasPrefix("/") ? text : wish.folder + "/" + text
        }
        let reach = context.reach
        func credential(_ name: some StringProtocol, in folder: String) -> OutsideFile? {
            reach.credential(String(name), at: "\(path(folder))/\(name)")
        }
        if listed.hasPrefix("file:") {
            return (reach.file(path(String(listed.dropFirst(5)))), listed)
        }
        if listed.hasPrefix("credential:"), let credentials = wish.credentials {
            return (credential(listed.dropFirst(11), in: credentials), listed)
        }
        guard listed.isEmpty else {
            throw CommandError(
                .configuration,
                "the secret of \(id) is not kept in a file",
                hint: listed.hasPrefix("credential:")
                    ? "name the folder in which the service manager finds it: --credentials DIR"
                    : "enrol puts secrets into files; name one in its row, as in file:keys/\(id).key"
            )
        }
        let plain = String(
            decoding: id.text.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
        let name = plain.hasPrefix(".") ? "_" + plain : plain
        if let credentials = wish.credentials {
            return (credential(name, in: credentials), "credential:\(name)")
        }
        return (reach.file(path("\(wish.keys)/\(name).key")), "file:\(wish.keys)/\(name).key")
    }

    /// Uses a passkey whenever one is given.
    private func bond(
        of id: VehicleID,
        _ profile: Profile,
        _ passkey: String?
    ) throws(CommandError) -> BondPolicy {
        guard let passkey, !passkey.isEmpty else {
            guard profile.pairing != .passkey else {
                throw CommandError(
                    .usage,
                    "modules of the profile \(profile.name) need a passkey for pairing",
                    hint: "name where the digits of \(id) are kept: --passkey, or a column passkey"
                )
            }
            return profile.unattendedBond
        }
        let reference = try reference(passkey, "the passkey")
        return BondPolicy(
            .passkey(try SecretSource(context: context).passkey(reference, of: "vehicle \(id)"))
        )
    }

    private func secret(_ text: String, of id: VehicleID) throws(CommandError) -> Secret {
        let reference = try reference(text, "the old secret")
        return try SecretSource(context: context).read(reference, of: "vehicle \(id)")
    }

    private func reference(
        _ text: String,
        _ what: String
    ) throws(CommandError) -> SecretReference {
        let reference: SecretReference
        do throws(SecretReference.ParseError) {
            reference = try SecretReference(text, relativeTo: wish.folder)
        } catch {
            throw CommandError(
                .usage,
                "the reference to \(what) is not valid",
                hint:
                    "write it as in file:maker.key; the secret itself has no place on a command line"
            )
        }
        return reference
    }
}
