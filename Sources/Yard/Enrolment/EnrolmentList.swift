import Base
import Commands
import Families
import Glibc
import Manifest
import Operations
import Radio
import Store

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
    /// The other vehicles that name its secret.
    var others = KeySharers.none

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
        guard let batch = wish.batch else { return [try single(list)] }
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
            let candidate = try candidate(
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
            if let reference = candidate.reference,
                let other = candidates.first(where: {
                    $0.reference == reference && $0.vehicle != id
                })
            {
                throw CommandError(
                    .manifest,
                    "\(id) and \(other.vehicle) would get the same key, \(reference)",
                    hint: "add a row for \(id) to \(wish.fleet) that names another one"
                )
            }
            candidates.append(candidate)
        }
        return candidates
    }

    /// The vehicle that the command line names.
    private func single(_ list: FleetFile) throws(CommandError) -> EnrolmentCandidate {
        guard let text = wish.vehicle, let id = VehicleID(text) else {
            throw CommandError(.usage, "'\((wish.vehicle ?? "").visible)' is no vehicle's id")
        }
        let listed = list.entries.first { $0.id == id.text }
        let left = wish.undoes && listed == nil ? leaving(id) : nil
        return try candidate(
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
        let found = try self.profile(profile, of: family)
        let bond = try bond(of: id, found, passkey)
        let listed = list.entries.first { $0.id == id.text }
        let wanted = try text.map { (text) throws(CommandError) in
            try serial(text, of: id, listed, list)
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
        let others = try sharers(of: id, file, reference, isListed: listed != nil, list)
        return EnrolmentCandidate(
            vehicle: id,
            serial: wanted,
            name: wish.name,
            profile: found,
            bond: bond,
            maker: maker,
            labels: labels,
            file: file,
            reference: reference,
            others: others
        )
    }

    private func profile(
        _ name: String,
        of family: Family
    ) throws(CommandError) -> Profile {
        let found: Profile
        do throws(PropertyMistake) { found = try library.require(name, of: family) } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
        guard found.advertisement != nil else {
            throw CommandError(
                .usage,
                "devices of family \(family.rawValue) connect to us and are not enrolled by radio",
                hint: "add the vehicle to the fleet list by hand"
            )
        }
        return found
    }

    /// A serial that no other vehicle is listed with, and the vehicle with no other.
    private func serial(
        _ text: String,
        of id: VehicleID,
        _ listed: FleetFile.Entry?,
        _ list: FleetFile
    ) throws(CommandError) -> Serial {
        guard let wanted = Serial(text) else {
            throw CommandError(.usage, "'\(text.visible)' is not a serial")
        }
        if let listed, Serial(listed.serial) != wanted {
            throw CommandError(
                .usage,
                "\(id) is listed with the serial \(listed.serial.visible)",
                hint: "'enrol --undo \(id)' takes it out of service first"
            )
        }
        if let other = list.entries.first(where: { $0.id != id.text && Serial($0.serial) == wanted }
        ) {
            throw CommandError(.usage, "that serial is listed as \(other.id.visible)")
        }
        return wanted
    }

    /// The other vehicles that name the secret; refused when it would have to be replaced.
    private func sharers(
        of id: VehicleID,
        _ file: OutsideFile?,
        _ reference: String,
        isListed: Bool,
        _ list: FleetFile
    ) throws(CommandError) -> KeySharers {
        let place = Place(file: wish.fleet, line: 1, column: 1)
        let holders = list.entries.compactMap { entry -> SecretHolder? in
            guard let text = entry.secret, let vehicle = VehicleID(entry.id),
                let secret = try? SecretReference(text, relativeTo: wish.folder)
            else { return nil }
            return SecretHolder(vehicle, secret, at: place)
        }
        let credentials = wish.credentials.map { self.path(to: $0) }
        let shared = SharedSecrets(
            holders,
            credentials: credentials ?? context.variable("CREDENTIALS_DIRECTORY")
        )
        let others = shared.others(than: id, at: path(of: reference))
        let isOpen = file.map { access($0.current(".new"), F_OK) == 0 } ?? false
        let mustChange = wish.rotates || !isListed || isOpen
        guard others.isEmpty || wish.undoes || !mustChange else {
            throw CommandError(
                .manifest,
                "the key of \(id) is not its own",
                because: ["\(reference) is also the key of \(others.text)"],
                hint: isListed
                    ? SharedSecrets.remedy
                    : "add a row for \(id) first that names a file of its own"
            )
        }
        return others
    }

    /// The path of the original of a secret that the list names.
    private func path(of reference: String) -> String {
        if reference.hasPrefix("credential:") {
            return path(to: wish.credentials ?? "") + "/" + reference.dropFirst(11)
        }
        return path(to: String(reference.dropFirst(5)))
    }

    /// A path relative to the fleet list.
    private func path(to text: String) -> String {
        text.hasPrefix("/") ? text : wish.folder + "/" + text
    }

    /// The place in the list, or else a file of its own: in the folder of keys, or in that of
    /// credentials.
    private func place(
        of id: VehicleID,
        _ listed: String
    ) throws(CommandError) -> (file: OutsideFile?, reference: String) {
        let reach = context.reach
        func credential(_ name: some StringProtocol, in folder: String) -> OutsideFile? {
            reach.credential(String(name), at: "\(path(to: folder))/\(name)")
        }
        if listed.hasPrefix("file:") {
            return (reach.file(path(to: String(listed.dropFirst(5)))), listed)
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
        let name = SecretFiles.name(of: id)
        if let credentials = wish.credentials {
            return (credential(name, in: credentials), "credential:\(name)")
        }
        return (
            reach.file(path(to: "\(wish.keys)/\(name).key")), "file:\(wish.keys)/\(name).key"
        )
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
