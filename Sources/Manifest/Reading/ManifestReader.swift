package import Base
import Families

/// A file could not be read without which nothing can be checked.
package enum ManifestError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The unreadable file: the manifest itself, or, with `namedAt`, a file that a valid manifest
    /// names.
    case unreadable(path: String, reason: FileError.Reason, namedAt: Place?)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason, _):
            FileError(path: path, reason: reason).description
        }
    }
}

/// The result of reading a manifest and its fleet list.
package struct ManifestReading {
    /// Nil when the diagnostics contain an error.
    package let plan: FrozenPlan?
    /// The readable part of the plan, even with errors: for further checks, never for a run.
    package let draft: FrozenPlan?
    package let diagnostics: [Diagnostic]

    package init(plan: FrozenPlan?, draft: FrozenPlan?, diagnostics: [Diagnostic]) {
        self.plan = plan
        self.draft = draft
        self.diagnostics = diagnostics
    }
}

/// Reads a manifest and the fleet list it names into a frozen plan.
package struct ManifestReader {
    /// Reads a file; tests pass their own function.
    package typealias Files =
        (_ path: String, _ limit: Int) throws(FileError) -> [UInt8]

    /// Reads the manifest at `path`.
    ///
    /// Throws only when a file cannot be read at all.
    package static func read(
        path: String,
        files: Files = TextFile.read
    ) throws(ManifestError) -> ManifestReading {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files(path, YAMLLimits().bytes)
        } catch {
            guard case .tooLarge(let limit) = error.reason else {
                throw .unreadable(path: path, reason: error.reason, namedAt: nil)
            }
            let fault = YAMLFault.tooLarge(limit: limit).diagnostic(file: path)
            return ManifestReading(plan: nil, draft: nil, diagnostics: [fault])
        }
        return try read(bytes, path: path, files: files)
    }

    /// Reads a manifest from memory, as if it were at `path`.
    package static func read(
        _ bytes: [UInt8],
        path: String,
        files: Files
    ) throws(ManifestError) -> ManifestReading {
        let diagnostics = Diagnostics(main: path)
        guard let tree = SourceNode.parse(bytes, file: path, diagnostics) else {
            return ManifestReading(plan: nil, draft: nil, diagnostics: diagnostics.list)
        }
        var reader = ManifestReader(path: path, diagnostics)
        let draft = reader.draft(tree, files)
        if let missing = reader.missing {
            // If there are other mistakes too, all of them are reported together.
            guard diagnostics.hasErrors else { throw missing.error }
            diagnostics.error(
                missing.place,
                missing.file.description,
                hint: "the path is relative to the manifest"
            )
        }
        return ManifestReading(
            plan: diagnostics.hasErrors ? nil : draft,
            draft: draft,
            diagnostics: diagnostics.list
        )
    }

    private struct MissingFile {
        let file: FileError
        let place: Place

        var error: ManifestError {
            .unreadable(path: file.path, reason: file.reason, namedAt: place)
        }
    }

    private let diagnostics: Diagnostics
    private let directory: String
    private var missing: MissingFile?
    private var holders: [SecretHolder] = []
    /// The labels that the list knows.
    private var labels: Set<String> = []

    private init(path: String, _ diagnostics: Diagnostics) {
        self.diagnostics = diagnostics
        directory = FileReference.directory(of: path)
    }

    /// The readable part of the plan.
    private mutating func draft(_ tree: SourceNode, _ files: Files) -> FrozenPlan {
        var reader = TableReader(tree, Grammar.manifest, diagnostics)
        let name = reader.text("name")
        let imagesNode = reader.value("images")
        let images = ImageReader(diagnostics: diagnostics, directory: directory).images(imagesNode)
        let steps = StepReader(diagnostics: diagnostics, images: Self.names(imagesNode))
            .with(macros: reader.value("macros"))
        let common = reader.value("steps").map { steps.steps($0, .steps) }
        let always = reader.value("always").map { steps.steps($0, .always) } ?? []
        let fleet = FleetReader(diagnostics: diagnostics, steps: steps, directory: directory)
        let found = reader.value("vehicles").flatMap { readVehicles($0, fleet, files) }
        let profiles = reader.value("profiles").flatMap { Form.path.read($0, diagnostics) }
            .map { FileReference($0, relativeTo: directory).path }
        let policy = PolicyReader(diagnostics: diagnostics)
        let rolloutNode = reader.value("rollout")
        let rollout = policy.rollout(rolloutNode, at: tree.place)
        let radio = policy.radio(reader.value("radio"), at: tree.place)
        let settle = policy.settle(reader.value("settle"), at: tree.place)
        let connect = policy.connect(reader.value("connect"), at: tree.place)
        let fetch = FetchReader(diagnostics: diagnostics, directory: directory)
            .policy(reader.value("fetch"), at: tree.place)
        let trust = TrustReader(diagnostics: diagnostics, directory: directory)
            .policy(reader.value("trust"), at: tree.place)
        let notify = reader.value("notify").map {
            NotifyReader(diagnostics: diagnostics, directory: directory).policy($0)
        }
        reader.finish()
        let vehicles = found.map { resolve($0, common, at: reader.place(of: "vehicles")) } ?? []
        if name != nil, found != nil {
            let check = PlanCheck(diagnostics: diagnostics, images: images)
            check.images(used: vehicles, common: common)
            check.families(vehicles, common: common)
            check.repositories(trust)
            check.labels(of: vehicles, known: labels)
            check.bonds(of: vehicles, always: always)
        }
        let used = PlanCheck.imageNames(vehicles.flatMap(\.steps))
        var plan = FrozenPlan(
            name: name ?? "",
            vehicles: vehicles,
            images: images.filter { used.contains($0.name) },
            always: always,
            rollout: rollout,
            radio: radio,
            settle: settle,
            connect: connect,
            fetch: fetch,
            trust: trust,
            profiles: profiles,
            place: tree.place
        )
        plan.notify = notify
        plan.holders = holders
        plan.zonePlace = rolloutNode?.place(of: ["window", "zone"])
        if let rolloutNode {
            plan.remarks = PolicyCheck(rollout, for: vehicles, rolloutNode).remarks
        }
        plan.checkPlace = rolloutNode?.place(of: ["between-waves", "check"])
        return plan
    }

    /// The names under `images`, including images with errors, so that steps may refer to them.
    private static func names(_ node: SourceNode?) -> Set<String> {
        guard case .map(let entries) = node?.value else { return [] }
        return Set(entries.map(\.key).filter { !$0.hasPrefix("x-") })
    }

    /// The selected vehicles; nil when there are none to select from.
    private mutating func readVehicles(
        _ node: SourceNode,
        _ fleet: FleetReader,
        _ files: Files
    ) -> [FleetReader.Vehicle]? {
        if case .list(let items) = node.value {
            let all = listed(items, fleet, at: node.place)
            hold(all)
            return all
        }
        var reader = TableReader(node, Grammar.vehicles, diagnostics)
        let from = reader.value("from")
        let selection = reader.value("select").map { Selection($0, diagnostics) }
        let issuer = reader.value("token").flatMap {
            TokenIssuerReader(diagnostics: diagnostics, directory: directory).issuer($0)
        }
        reader.finish()
        guard let from else { return nil }
        var all: [FleetReader.Vehicle]?
        if case .list(let items) = from.value {
            all = listed(items, fleet, at: from.place)
        } else {
            all = rows(from, files).map(fleet.vehicles)
        }
        if let issuer {
            all = all?.map { vehicle in
                // Other vehicles are not known to have a GO device.
                let hasDevice = vehicle.goSerial != nil || vehicle.secret == nil
                guard hasDevice, vehicle.token == nil, vehicle.issuer == nil else {
                    return vehicle
                }
                var vehicle = vehicle
                vehicle.issuer = issuer
                return vehicle
            }
        }
        hold(all ?? [])
        // If rows are missing because of errors, "no vehicle has that label" could be wrong.
        guard let all, !all.isEmpty, let selection else { return all }
        return selection.apply(all, diagnostics)
    }

    /// Notes who names a secret, and the labels, before vehicles are selected.
    private mutating func hold(_ all: [FleetReader.Vehicle]) {
        labels.formUnion(all.flatMap { $0.labels.map(\.name) })
        holders = all.compactMap { vehicle in
            guard FamilyRegistry.secrets(of: vehicle.family) != nil else { return nil }
            return vehicle.secret.map {
                SecretHolder(vehicle.id, $0, at: vehicle.secretPlace ?? vehicle.place)
            }
        }
    }

    private func listed(
        _ items: [SourceNode],
        _ fleet: FleetReader,
        at place: Place
    ) -> [FleetReader.Vehicle] {
        if items.isEmpty {
            diagnostics.error(place, "the list of vehicles is empty", hint: "add a vehicle")
        }
        return fleet.vehicles(fleet.rows(items))
    }

    private mutating func rows(_ node: SourceNode, _ files: Files) -> [FleetRow]? {
        guard let text = Form.path.read(node, diagnostics) else { return nil }
        let path = FileReference(text, relativeTo: directory).path
        do throws(FileError) {
            let bytes = try files(path, FleetTable.mostBytes)
            let rows = FleetTable.rows(bytes, file: path, diagnostics)
            labels = Set(rows?.first?.labels.map(\.name) ?? [])
            return rows
        } catch {
            if case .tooLarge = error.reason {
                diagnostics.error(node.place, error.description, hint: "is this the right file?")
            } else {
                missing = MissingFile(file: error, place: node.place)
            }
            return nil
        }
    }

    /// Gives each vehicle its own steps, or else the manifest's.
    private func resolve(
        _ vehicles: [FleetReader.Vehicle],
        _ common: [Step]?,
        at place: Place
    ) -> [PlannedVehicle] {
        let idle = vehicles.filter { $0.ownSteps == nil }
        if common == nil, let first = idle.first {
            diagnostics.error(
                vehicles.count == idle.count ? place : first.place,
                "there are no steps for \(idle.count) of \(vehicles.count) vehicles",
                hint: "add `steps` to the manifest, or to each vehicle"
            )
        }
        var chooser = ImageChooser()
        let planned = vehicles.map { vehicle in
            let steps = chooser.steps(
                vehicle.ownSteps ?? common ?? [],
                for: vehicle,
                areShared: vehicle.ownSteps == nil
            )
            var planned = PlannedVehicle(
                id: vehicle.id,
                serial: vehicle.serial,
                family: vehicle.family,
                profile: vehicle.profile,
                secret: vehicle.secret,
                token: vehicle.token,
                goSerial: vehicle.goSerial,
                hardwareID: vehicle.hardwareID,
                bond: vehicle.bond,
                labels: vehicle.labels,
                steps: steps,
                place: vehicle.place,
                serialPlace: vehicle.serialPlace
            )
            planned.issuer = vehicle.issuer
            planned.secretPlace = vehicle.secretPlace
            planned.tokenPlace = vehicle.tokenPlace
            planned.passkeyPlace = vehicle.passkeyPlace
            return planned
        }
        chooser.report(diagnostics)
        return planned
    }
}
