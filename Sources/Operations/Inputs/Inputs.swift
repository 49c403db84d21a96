package import Base
package import Commands
import Families
package import Manifest
package import Radio
import Rollout
package import Simulation

/// Reads the inputs of commands and turns their faults into errors for people.
package enum Inputs {
    /// The plan of a manifest; warnings are printed.
    package static func plan(
        _ path: String,
        _ context: Context,
        _ common: CommonOptions
    ) throws(CommandError) -> FrozenPlan {
        var sources = PlanSources()
        return try plan(path, context, common, &sources)
    }

    /// The same, with the files that the plan was made from.
    package static func plan(
        _ path: String,
        _ context: Context,
        _ common: CommonOptions,
        _ sources: inout PlanSources
    ) throws(CommandError) -> FrozenPlan {
        let read = try read(path, common) {
            (path, limit) throws(FileError) in
            let bytes = try TextFile.read(path: context.reach.current(path), limit: limit)
            sources.add(path, bytes)
            return bytes
        }
        if !common.isQuiet || read.plan == nil { tell(read.diagnostics, context) }
        guard let plan = read.plan else { throw invalid(path, read.diagnostics) }
        return plan
    }

    /// Reads a manifest, and checks it against the vehicles that it is meant for.
    ///
    /// Steps are checked even when other steps cannot be read, so that all faults are reported
    /// together.
    package static func read(
        _ path: String,
        _ common: CommonOptions,
        files: ManifestReader.Files = TextFile.read
    ) throws(CommandError) -> ManifestReading {
        let read: ManifestReading
        do throws(ManifestError) {
            read = try ManifestReader.read(path: path, files: files)
        } catch {
            switch error {
            case .unreadable(_, _, let place):
                throw CommandError(
                    .inputMissing,
                    error.description,
                    because: place.map { ["it is named at \($0)"] } ?? [],
                    hint: place == nil
                        ? "give the path of a manifest" : "the path is relative to the manifest"
                )
            }
        }
        guard let draft = read.draft else { return read }
        let (profiles, faults) = try ProfileFolder.library(of: draft, common)
        guard !faults.contains(where: { $0.severity == .error }) else {
            return ManifestReading(
                plan: nil,
                draft: nil,
                diagnostics: read.diagnostics.adding(faults, main: path)
            )
        }
        // Everything that a step names must exist on its vehicles.
        let mistakes = JobBuilder(draft, profiles: profiles).mistakes + TokenCheck.unnamed(draft)
        return ManifestReading(
            plan: mistakes.isEmpty ? read.plan : nil,
            draft: draft,
            diagnostics: read.diagnostics.adding(faults + mistakes, main: path)
        )
    }

    /// The simulated depot of a rehearsal of this plan.
    static func depot(
        _ simulation: SimulationOptions,
        for plan: FrozenPlan,
        _ context: Context,
        _ profiles: ProfileLibrary
    ) throws(CommandError) -> DepotFile {
        switch simulation.depot {
        case .file(let path): try depot(path, context, profiles)
        case .invented(let isBad):
            try InventedDepot(plan, profiles, seed: simulation.seed ?? 1).file(isBad: isBad)
        }
    }

    /// The simulated depot of `--simulate`.
    package static func depot(
        _ path: String,
        _ context: Context,
        _ profiles: ProfileLibrary
    ) throws(CommandError) -> DepotFile {
        let diagnostics = Diagnostics()
        let depot: DepotFile?
        do throws(FileError) {
            depot = try DepotFile.load(
                path: path,
                families: FamilyRegistry.simulated,
                profiles: profiles,
                diagnostics
            )
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "give the path of a simulated depot"
            )
        }
        tell(diagnostics.list, context)
        guard let depot else { throw invalid(path, diagnostics.list) }
        return depot
    }

    package static func tell(_ diagnostics: [Diagnostic], _ context: Context) {
        for text in Diagnostic.texts(diagnostics) { context.console.note(text + "\n") }
    }

    package static func invalid(_ path: String, _ diagnostics: [Diagnostic]) -> CommandError {
        let count = diagnostics.count { $0.severity == .error }
        return CommandError(
            .manifest,
            "\(counted(count, "error")) in \(path)",
            hint: "nothing was touched; fix what is listed above and try again"
        )
    }

    /// The vehicles that `--limit` includes.
    ///
    /// Their last outcomes are read from the journal of `state`.
    package static func selected(
        _ plan: FrozenPlan,
        _ common: CommonOptions,
        state: String
    ) throws(CommandError) -> [PlannedVehicle] {
        let common = try common.looking(in: KnownVehicles(state: state).ground(of: plan))
        let vehicles = plan.vehicles.filter { common.takes($0.id) }
        guard vehicles.isEmpty else { return vehicles }
        throw CommandError(
            .usage,
            "--limit matches none of the \(plan.vehicles.count) vehicles",
            because: ["\(common.limitText) selects no vehicle now"],
            hint: "'yardmaster plan' lists them"
        )
    }
}
