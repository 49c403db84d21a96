import Base
package import Commands
import Glibc
package import Manifest
package import Operations
import Store

/// Gives vehicles that share a key a file each, and their rows of the fleet list the new names.
///
/// Each file has the shared key until a rotation replaces it. All files are on disk before the list
/// is replaced as a whole; the shared file is never changed. After an interruption at any point it
/// is repeated.
package struct SecretSplit {
    /// The file of one vehicle.
    package struct Copy: Sendable {
        let vehicle: VehicleID
        let source: SecretFiles
        let target: SecretFiles
        /// The text of the new reference.
        let text: String

        package func write() throws(EnrolFault) { try source.copy(to: target) }
    }

    package let copies: [Copy]
    /// The fleet list; nil without copies.
    private let list: OutsideFile?

    /// Finds the vehicles among `vehicles` that have no key of their own.
    package init(
        _ plan: FrozenPlan,
        for vehicles: [PlannedVehicle],
        by shared: SharedSecrets,
        within reach: Reach
    ) throws(CommandError) {
        var taken: Set<String> = []
        var copies: [Copy] = []
        for vehicle in vehicles {
            guard case .file(let file)? = vehicle.secret,
                !shared.others(than: vehicle.id, at: file.path).isEmpty
            else { continue }
            guard vehicle.place.file != plan.place.file else {
                throw CommandError(
                    .manifest,
                    "\(vehicle.id) is listed in \(plan.place.file) itself, which is not rewritten",
                    hint: "copy \(file.path) for each vehicle, mode 0600, and name the copies"
                )
            }
            do throws(EnrolFault) {
                let copy = try Self.copy(vehicle.id, file, shared, reach, &taken)
                copies.append(copy)
            } catch { throw CommandError(.configuration, error.sentence, hint: error.hint) }
        }
        self.copies = copies
        list = copies.isEmpty ? nil : vehicles.first.flatMap { reach.file($0.place.file) }
    }

    /// A file beside the shared one that is free, or that an interrupted split has made.
    private static func copy(
        _ vehicle: VehicleID,
        _ file: FileReference,
        _ shared: SharedSecrets,
        _ reach: Reach,
        _ taken: inout Set<String>
    ) throws(EnrolFault) -> Copy {
        let real = realpath(file.path, nil)
        defer { free(real) }
        guard let original = reach.file(real.map { String(cString: $0) } ?? file.path) else {
            throw EnrolFault.file("cannot write beside", file.path, EROFS)
        }
        let source = SecretFiles(original, maker: nil)
        let name = SecretFiles.name(of: vehicle)
        for number in 0..<1_000 {
            let own = number == 0 ? "\(name).key" : "\(name)-\(number).key"
            let path = beside(file.path, own)
            guard !taken.contains(path), shared.others(than: vehicle, at: path).isEmpty,
                let target = reach.file(path).map({ SecretFiles($0, maker: nil) }),
                try source.canBeCopied(to: target)
            else { continue }
            taken.insert(path)
            return Copy(
                vehicle: vehicle,
                source: source,
                target: target,
                text: "file:" + beside(file.text, own)
            )
        }
        throw EnrolFault(
            .files,
            "no name is free for the key of \(vehicle) beside \(file.path)",
            hint: "name a file of its own in its row"
        )
    }

    private static func beside(_ path: String, _ name: String) -> String {
        let folder = FileReference.directory(of: path)
        return folder.isEmpty ? name : folder == "/" ? "/" + name : folder + "/" + name
    }

    /// Gives the rows their new references.
    package func rewriteList() throws(EnrolFault) {
        guard let list else { return }
        if let code = list.prepare() { throw EnrolFault.file("cannot write", list.path, code) }
        var file = try FleetFile(listedIn: list.path)
        var texts: [VehicleID: String] = [:]
        for copy in copies { texts[copy.vehicle] = copy.text }
        do throws(FleetFile.Mistake) { try file.set("secret", to: texts) } catch {
            throw EnrolFault(.files, error.message, hint: error.hint)
        }
        try file.replace(list.path)
    }

    private func perform() throws(EnrolFault) {
        for copy in copies { try copy.write() }
        try rewriteList()
    }

    /// Does it for the vehicles whose secrets a rotation by these options changes, while no other
    /// program works with the state directory.
    package static func perform(
        _ options: RunOptions,
        _ context: Context
    ) throws(CommandError) {
        let directory = try context.reach.prepare(options.state)
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try directory.lock(rollout: "split", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        let plan = try Inputs.plan(options.manifest, context, options.common).rotating
        let vehicles = try Inputs.selected(plan, options.common, state: options.state)
        let split = try SecretSplit(
            plan,
            for: vehicles,
            by: SharedSecrets(plan.holders, context),
            within: context.reach
        )
        do throws(EnrolFault) { try split.perform() } catch {
            throw CommandError(.cannotWrite, error.sentence, hint: error.hint)
        }
        lock.release()
        guard !split.copies.isEmpty else { return }
        let count = split.copies.count
        context.console.note(
            "yardmaster: \(counted(count, "vehicle")) \(count == 1 ? "has" : "have") a key file of "
                + "\(count == 1 ? "its" : "their") own now, as \(split.list?.path ?? "the list") says\n"
                + "  the shared file stays; remove it when all rotations are done\n"
        )
    }
}

extension FleetFile {
    init(listedIn path: String) throws(EnrolFault) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try TextFile.read(path: path, limit: 32 << 20) } catch {
            throw EnrolFault(.files, error.description, hint: "run the command again")
        }
        guard let file = FleetFile(bytes, file: path, Diagnostics()) else {
            throw EnrolFault(
                .files,
                "\(path) is no longer a valid fleet list",
                hint: "fix it and run the command again"
            )
        }
        self = file
    }

    /// Replaces the list as a whole; its mode and its owner stay, and so does a link to it.
    func replace(_ named: String) throws(EnrolFault) {
        let real = realpath(named, nil)
        defer { free(real) }
        let path = real.map { String(cString: $0) } ?? named
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o644
        if let code = Draft.write(bytes, to: path, mode: mode, isExact: true, ownedAs: path) {
            throw EnrolFault.file("cannot write", path, code)
        }
    }
}
