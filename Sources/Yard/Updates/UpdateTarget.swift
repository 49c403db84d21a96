import Base
import Commands
import Families
import Manifest
import Operations
import Radio
import Show
import Store

/// A module that an image file may be meant for: one in reach, or one that owes this update.
struct UpdateTarget: Sendable {
    /// The vehicle that the journal has it in, or else its serial.
    let vehicle: VehicleID
    let serial: Serial
    let profile: Profile
    let name: String
    /// Nil for a module that is not heard.
    let address: String?
    /// Whether another module in reach may have the same serial.
    var isShared = false
    /// The update that was begun on it and is not proven.
    let debt: Debt?
    /// Why the file must not be sent to it; nil when it may be sent.
    let mismatch: String?

    /// The words that name it for people.
    var title: String {
        let name = [vehicle.text, serial.text].contains(name) ? nil : name.visible
        return ([vehicle.text, profile.family.rawValue] + [name].compactMap(\.self))
            .joined(separator: ", ")
    }
}

/// The modules among which those are chosen that an update is meant for.
struct UpdateGround: Sendable {
    private let wish: UpdateWish
    private let file: UpdateFile
    private let library: ProfileLibrary
    private var modules: [Serial: VehicleID?] = [:]
    private var debts: [Debt] = []
    private var records: [InventoryRecord] = []

    /// With what the journal knows; a state directory may have none.
    init(
        _ wish: UpdateWish,
        _ file: UpdateFile,
        state: String,
        _ library: ProfileLibrary
    ) throws(CommandError) {
        (self.wish, self.file, self.library) = (wish, file, library)
        do throws(JournalError) {
            (modules, debts, records) = try JournalReader(directory: state).read {
                view throws(JournalError) in
                (try view.modules(), try view.debts(), try view.inventory())
            }
        } catch {
            guard error.kind == .missing else { throw CommandError(reading: error, in: state) }
        }
    }

    /// The modules that were heard, and those that owe this update and were not.
    ///
    /// Some bootloaders do not say whose they are: only the journal knows where to look.
    func targets(_ heard: HeardModules) -> [UpdateTarget] {
        let modules = heard.modules
        return modules.compactMap { target($0, isShared: heard.isShared($0)) }
            + debts.compactMap { debt in
                guard debt.image == file.image.digest,
                    !modules.contains(where: { $0.serial == debt.serial }),
                    let record = records.first(where: { $0.serial == debt.serial }),
                    let profile = library.profile(record.profile, of: record.family)
                else { return nil }
                return UpdateTarget(
                    vehicle: debt.vehicle,
                    serial: debt.serial,
                    profile: profile,
                    name: record.name ?? debt.serial.text,
                    address: nil,
                    debt: debt,
                    mismatch: file.mismatch(with: profile)
                )
            }
    }

    /// Nil for a module of another family or profile than the one that is asked for.
    private func target(_ module: DiscoveredModule, isShared: Bool) -> UpdateTarget? {
        guard wish.family == nil || wish.family == module.family.rawValue,
            let profile = profile(of: module),
            let vehicle = (modules[module.serial] ?? nil) ?? VehicleID(module.serial.text)
        else { return nil }
        return UpdateTarget(
            vehicle: vehicle,
            serial: module.serial,
            profile: profile,
            name: module.name,
            address: module.peer.handle,
            isShared: isShared,
            debt: debts.first { $0.serial == module.serial },
            mismatch: file.mismatch(with: profile)
        )
    }

    /// The profile that is asked for, or else the first that the file fits.
    private func profile(of module: DiscoveredModule) -> Profile? {
        if let name = wish.profile { return library.profile(name, of: module.family) }
        let known = records.first { $0.serial == module.serial && $0.family == module.family }
        let names = [known?.profile].compactMap(\.self) + module.profiles
        let profiles = names.compactMap { library.profile($0, of: module.family) }
        return profiles.first { file.mismatch(with: $0) == nil } ?? profiles.first
    }

    /// Whether no module is missing that the command line names.
    ///
    /// A second one with the same serial may still appear where a serial is a mere name.
    func isComplete(_ heard: HeardModules) -> Bool {
        guard !wish.names.isEmpty, wish.names.allSatisfy({ !$0.isPattern }) else { return false }
        let targets = targets(heard)
        return wish.names.allSatisfy { name in
            targets.contains {
                name.isSure($0) && FamilyRegistry.hasHexSerials($0.profile.family)
            }
        }
    }

    // MARK: The choice

    /// Those that the update is meant for; empty when none of them is in reach.
    func chosen(from targets: [UpdateTarget]) throws(CommandError) -> [UpdateTarget] {
        let chosen = try meant(among: targets)
        if let one = chosen.first(where: \.isShared) {
            throw CommandError(
                .usage,
                "\(one.serial) is heard from several addresses, so several modules may be called that",
                hint:
                    "nothing was done; let only one of them be in reach, or give each a name of its own"
            )
        }
        return chosen
    }

    private func meant(among targets: [UpdateTarget]) throws(CommandError) -> [UpdateTarget] {
        if !wish.names.isEmpty { return try named(in: targets) }
        let fitting = targets.filter { $0.mismatch == nil }
        guard !fitting.isEmpty else {
            guard targets.isEmpty else { throw refusal(of: targets, targets) }
            return []
        }
        if wish.takesAll { return fitting }
        // The command that was cut off is continued, whatever has come into reach since.
        let owing = fitting.filter { $0.debt?.image == file.image.digest }
        let meant = owing.isEmpty ? fitting : owing
        guard meant.count == 1 else { throw ambiguity(meant, "the file fits") }
        return meant
    }

    private func named(in targets: [UpdateTarget]) throws(CommandError) -> [UpdateTarget] {
        var chosen: [UpdateTarget] = []
        for name in wish.names {
            let found = targets.filter(name.fits)
            let sure = found.filter(name.isSure)
            let meant = sure.count == 1 ? sure : found
            guard !meant.isEmpty else { return [] }
            guard meant.count == 1 || name.isPattern else {
                throw ambiguity(meant, "\(name.text) may mean")
            }
            chosen += meant.filter { one in !chosen.contains { $0.serial == one.serial } }
        }
        let wrong = chosen.filter { $0.mismatch != nil }
        guard wrong.isEmpty else { throw refusal(of: wrong, targets) }
        return chosen
    }

    private func ambiguity(_ modules: [UpdateTarget], _ what: String) -> CommandError {
        CommandError(
            .usage,
            "\(modules.count) modules are in reach that \(what), and nothing was done",
            because: modules.prefix(20).map(\.title),
            hint: "give the same command with the serials of those that are meant, such as "
                + "\(modules[0].serial), or with --all for every one that the file fits"
        )
    }

    /// The refusal of a file that is for other hardware, with what would fit.
    private func refusal(of wrong: [UpdateTarget], _ all: [UpdateTarget]) -> CommandError {
        let fitting = all.filter { $0.mismatch == nil }.prefix(5).map(\.vehicle.text)
        let models = library.all.filter { file.mismatch(with: $0) == nil }
            .map { "\($0.family.rawValue)/\($0.name)" }
        let kinds = fitting.isEmpty ? models : fitting
        return CommandError(
            .trust,
            "\(wish.file) must not go to "
                + (wrong.count == 1 ? "\(wrong[0].vehicle)" : "these \(wrong.count) modules"),
            because: wrong.prefix(5).map { target in
                (wrong.count == 1 ? "" : "\(target.vehicle): ") + (target.mismatch ?? "")
            },
            hint: "nothing was sent; "
                + (kinds.isEmpty
                    ? "no known profile takes this file"
                    : "the file fits \(fitting.isEmpty ? "modules of " : "")"
                        + kinds.joined(separator: ", "))
        )
    }
}
