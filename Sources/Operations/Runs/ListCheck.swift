import Base
import Commands
import Manifest
import Rollout
import Show
import Store

/// Compares the list of a run with the journal, before radio work.
struct ListCheck {
    let plan: FrozenPlan
    let state: String
    let flags: PlaceFlags

    /// The differences that change nothing for anybody, as sentences.
    ///
    /// Throws when a person has to say what has happened: something belongs to a vehicle, and the
    /// list may have it under another id.
    func differences(_ journal: Journal, at now: WallTime) async throws -> [String] {
        let changes = try await journal.changes(in: plan.listed, at: now)
        try refuse(changes) { listed, known in
            "say what has happened: '"
                + flags.line("vehicle renamed", quoted(known), quoted(listed.id))
                + "' when the vehicle has another id, '"
                + flags.line("vehicle moved", listed.serial.text, quoted(listed.id))
                + "' when only its module was moved"
        }
        return changes.map(\.sentence)
    }

    /// Refuses a list under whose ids the fleet would not find what is open on a vehicle.
    ///
    /// The fleet keeps it under the id, which nobody can change there.
    func refuse(_ changes: [ListChange]) throws(CommandError) {
        try refuse(changes) { _, known in
            "let the list have it as \(known) until nothing is open there, or say '"
                + flags.line("uninhibit", quoted(known)) + "' or '"
                + flags.line("clear", quoted(known)) + "' when that is over"
        }
    }

    private func refuse(
        _ changes: [ListChange],
        _ hint: (ListedVehicle, VehicleID) -> String
    ) throws(CommandError) {
        for case .elsewhere(let listed, let known, let open?) in changes {
            let place = plan.list.first { $0.id == listed.id }?.place
            throw CommandError(
                .manifest,
                "\(place.map { "\($0): " } ?? "")the module \(listed.serial) of \(listed.id) was "
                    + "in \(known), and \(open)",
                because: ["nothing was done: it may be the same vehicle, or another one"],
                hint: hint(listed, known)
            )
        }
    }

    /// Refuses to go on with a journal that was replaced by an earlier copy, until a person has
    /// accepted that.
    func requireWhole(_ journal: Journal) async throws {
        guard let lost = try await journal.lostTime() else { return }
        throw CommandError(
            .configuration,
            lost.sentence(in: state),
            because: lost.commands,
            hint:
                "look at these vehicles, then say '\(flags.line("accept-restore"))'; nothing was "
                + "done"
        )
    }

    private func quoted(_ vehicle: VehicleID) -> String { NextStep.quoted(vehicle.text) }
}

extension LostTime {
    /// The sentence for people.
    package func sentence(in state: String) -> String {
        let last = lastRun.map { "run \($0.number) of \($0.started)" } ?? "no run"
        guard let lostRun else {
            return
                "the journal in \(state) came here without the file that belongs to it: its last "
                + "is \(last), and nothing is known about what was done since"
        }
        return "the journal in \(state) is an earlier copy: its last is \(last), and run "
            + "\(lostRun.number) began at \(lostRun.started)"
    }

    /// The commands that it lacks, for people.
    package var commands: [String] {
        acts.map { act in
            let intent = act.intent
            let name = act.sentTo == intent.vehicle ? "" : ", when it was called \(act.sentTo)"
            return "\(intent.vehicle): `\(intent.description)` was begun at \(intent.begun) in run "
                + "\(intent.run) of \(intent.rollout)\(name)"
        }
    }
}
