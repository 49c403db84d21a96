import Base
package import Commands
import Glibc
import Manifest
package import Operations
import Radio

/// `init`: writes a first manifest with its fleet list, valid as it is written.
package struct FirstRollout: Sendable {
    /// Where the vehicles come from.
    package enum Source: Sendable {
        case scan
        case list(String)
        case example
    }

    private let folder: String
    private let name: String
    private let source: Source
    private let image: String?
    private let version: FirmwareVersion?
    private let secret: String
    private let length: Duration
    private let surroundings: Surroundings
    private let common: CommonOptions
    private let context: Context

    package init(
        _ invocation: Invocation,
        from source: Source,
        image: String?,
        _ context: Context
    ) throws(CommandError) {
        let path = AbsolutePath.of(invocation.arguments.first ?? "rollout.yaml")
        folder = FileReference.directory(of: path)
        let file = String(path.dropFirst(folder.utf8.count).drop { $0 == "/" })
        name = file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
        guard Naming.isWord(Array(name.utf8), upperCase: true) else {
            throw CommandError(
                .usage,
                "'\(name.visible)' cannot be the name of a rollout",
                hint: "use letters, digits, '.', '_' and '-', as in 'yardmaster init tallinn.yaml'"
            )
        }
        self.source = source
        self.image = image
        version = invocation[Command.imageVersion]
        secret = invocation[Command.eachSecret]
        length = invocation[Command.nearby]
        common = try CommonOptions(invocation, context)
        surroundings = Surroundings(
            common.profiles,
            simulation: SimulationOptions(invocation),
            bus: invocation[Command.bus],
            adapters: invocation[Command.adapter],
            context
        )
        self.context = context
    }

    /// The paths that were written; empty when no module was heard.
    package func write() async throws(CommandError) -> [String] {
        try RootRule.demand(folder)
        try refuseExisting()
        guard var manifest = try await begun() else { return [] }
        // The first reading tells the families, the second one checks what is written.
        let vehicles = try read(manifest).vehicles
        manifest.vehicles = vehicles.count
        try refuseStrayKeys(vehicles)
        if let image {
            let file = try UpdateFile(image, version: version)
            let fitting = vehicles.filter { vehicle in
                common.profiles.profile(vehicle.profile, of: vehicle.family)
                    .map { file.mismatch(with: $0) == nil } == true
            }
            guard let first = fitting.first else {
                throw CommandError(
                    .trust,
                    "\(image) fits none of the \(vehicles.count) vehicles",
                    hint: "nothing was written; 'yardmaster image inspect' shows what it is for"
                )
            }
            manifest.image = file
            manifest.imagePath = fromFolder(file.image.path)
            manifest.family = first.family
            let relatives = vehicles.filter { $0.family == first.family }
            let chosen = fitting.filter { $0.family == first.family }
            manifest.vehicles = chosen.count
            if relatives.count < vehicles.count {
                manifest.selected.append(("family", [first.family.rawValue]))
            }
            if chosen.count < relatives.count {
                manifest.selected.append(("profile", Set(chosen.map(\.profile)).sorted()))
            }
        }
        _ = try read(manifest)
        return try write(manifest)
    }

    /// Refuses a list whose references to files would mean others in a manifest of another folder.
    private func refuseStrayKeys(_ vehicles: [PlannedVehicle]) throws(CommandError) {
        guard case .list(let path) = source,
            FileReference.directory(of: AbsolutePath.of(path)) != folder
        else { return }
        for vehicle in vehicles {
            let references = [vehicle.secret, vehicle.token, vehicle.bond.passkey]
            for case .file(let file)? in references where !file.text.hasPrefix("/") {
                throw CommandError(
                    .manifest,
                    "'file:\(file.text.visible)' of \(vehicle.id) is relative to the manifest, which "
                        + "would not be beside the list",
                    hint: "nothing was written; name a manifest in the folder of \(path)"
                )
            }
        }
    }

    private func begun() async throws(CommandError) -> FirstManifest? {
        switch source {
        case .example:
            return FirstManifest(name: name, rows: FirstManifest.example, list: name + ".csv")
        case .list(let path):
            let list = fromFolder(AbsolutePath.of(path))
            return FirstManifest(name: name, rows: nil, list: list)
        case .scan:
            let found = ScanRows(try await surroundings.heard(for: length))
            for remark in found.remarks { context.console.note("warning: \(remark)\n") }
            guard found.rows.count > 1 else { return nil }
            let rows = FirstManifest.rows(found.rows, secret: secret, common.profiles)
            return FirstManifest(name: name, rows: rows, list: name + ".csv")
        }
    }

    // MARK: Files

    private var paths: (manifest: String, list: String) {
        ("\(folder)/\(name).yaml", "\(folder)/\(name).csv")
    }

    /// What lies beside the manifest is named so that all of it can be moved together.
    private func fromFolder(_ path: String) -> String {
        path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.utf8.count + 1)) : path
    }

    private func read(_ manifest: FirstManifest) throws(CommandError) -> FrozenPlan {
        let reading = try Inputs.read(paths.manifest, common) { (path, limit) throws(FileError) in
            if path == paths.manifest { return Array(manifest.text.utf8) }
            if path == paths.list, let rows = manifest.rows {
                return Array(ScanRows.csv(rows).utf8)
            }
            return try TextFile.read(path: path, limit: limit)
        }
        guard let plan = reading.plan else {
            Inputs.tell(reading.diagnostics, context)
            throw CommandError(
                .manifest,
                "the vehicles cannot be listed in a manifest as they are",
                hint: "nothing was written; correct what is listed above and try again"
            )
        }
        return plan
    }

    /// Refuses before anything is listened for; the files themselves are created exclusively.
    private func refuseExisting() throws(CommandError) {
        var made = [paths.manifest]
        if case .list = source {} else { made.append(paths.list) }
        for path in made where access(path, F_OK) == 0 { throw Self.refusal(path, EEXIST) }
    }

    private func write(_ manifest: FirstManifest) throws(CommandError) -> [String] {
        var made: [String] = []
        if let keys = manifest.keyFolder {
            let path = "\(folder)/\(keys)"
            do throws(FileFault) { try FilePlace.makeFolder(path) } catch {
                throw Self.refusal(path, error.code)
            }
        }
        if let rows = manifest.rows {
            try Self.create(paths.list, ScanRows.csv(rows))
            made.append(paths.list)
        }
        try Self.create(paths.manifest, manifest.text)
        return made + [paths.manifest]
    }

    /// Creates a file that does not exist yet.
    private static func create(_ path: String, _ text: String) throws(CommandError) {
        let descriptor: CInt
        do throws(FileFault) {
            descriptor = try FilePlace.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        } catch { throw refusal(path, error.code) }
        defer { close(descriptor) }
        if let code = Descriptor.write(Array(text.utf8), to: descriptor) {
            throw refusal(path, code)
        }
    }

    private static func refusal(_ path: String, _ code: CInt) -> CommandError {
        CommandError(
            .cannotCreate,
            code == EEXIST ? "\(path) exists already" : "\(path) cannot be written",
            because: code == EEXIST ? [] : [Descriptor.text(of: code)],
            hint: code == EEXIST ? "it is not overwritten: name another file" : nil
        )
    }
}
