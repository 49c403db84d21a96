package import Base
package import Commands
import Operations
import Store

/// What a person says about changes that a list and a journal cannot show: another id of a vehicle,
/// another place of a module, a restored journal.
package struct ListWords: Sendable {
    private let state: String
    private let reason: String
    private let author: String

    package init(state: String, reason: String?, author: String) {
        (self.state, self.reason, self.author) = (state, reason ?? "", author)
    }

    /// The vehicles have other ids now: everything that is known of them goes on under these.
    package func renamed(
        _ names: [(old: VehicleID, new: VehicleID)]
    ) async throws(CommandError) -> String {
        let saying = saying("vehicle renamed", names.flatMap { [$0.old, $0.new] })
        let refusal = try await withJournal { journal throws(JournalError) in
            try await journal.rename(names, at: RealTime().wallTime, saying: saying)
        }
        if let refusal { throw CommandError(refusal) }
        return names.map { "\($0.old) is \($0.new) from now on" }.joined(separator: "\n")
    }

    /// The module is in this vehicle now: it takes its debt along, and only that.
    package func moved(
        _ serial: Serial,
        to vehicle: VehicleID
    ) async throws(CommandError) -> String {
        let saying = saying(
            "vehicle moved",
            [vehicle],
            reason.isEmpty ? serial.text : "\(serial) \(reason)"
        )
        let refusal = try await withJournal { journal throws(JournalError) in
            try await journal.move(serial, to: vehicle, saying: saying)
        }
        if let refusal { throw CommandError(refusal) }
        return "the module \(serial) is in \(vehicle) from now on"
    }

    /// The journal was replaced by an earlier copy, and the runs go on with it.
    package func acceptRestore() async throws(CommandError) -> String {
        let place = state
        let saying = saying("accept-restore", [])
        return try await withJournal { journal throws(JournalError) in
            guard let lost = try await journal.lostTime() else {
                return "no change, the journal in \(place) has everything that it must have"
            }
            try await journal.accept(lost, saying: saying)
            let doubts = lost.commands.map { "in doubt from now on: \($0)" }
            return ([lost.sentence(in: place)] + doubts + [Self.remark]).joined(separator: "\n")
        }
    }

    private static let remark =
        "what people have said since that copy was made (inhibit, pause, abort, answers, other ids) is "
        + "lost: say it again; then runs go on"

    private func saying(
        _ verb: String,
        _ vehicles: [VehicleID],
        _ reason: String? = nil
    ) -> Saying {
        Saying(
            verb,
            vehicles: vehicles,
            reason: reason ?? self.reason,
            author: author,
            at: RealTime().wallTime
        )
    }

    /// Opens the journal while no run works with it.
    private func withJournal<R: Sendable>(
        _ body: (Journal) async throws(JournalError) -> R
    ) async throws(CommandError) -> R {
        let lock: StateLock
        do throws(StateDirectoryError) {
            lock = try StateDirectory.existing(at: state)
                .lock(rollout: "-", started: RealTime().wallTime)
        } catch { throw CommandError(error) }
        let thread = try ThreadExecutor.working("journal")
        let result = await asked(thread, body)
        thread.stop()
        lock.release()
        do throws(JournalError) { return try result.get() } catch { throw CommandError(error) }
    }

    private func asked<R: Sendable>(
        _ thread: ThreadExecutor,
        _ body: (Journal) async throws(JournalError) -> R
    ) async -> Result<R, JournalError> {
        do throws(JournalError) {
            let journal = try await Journal.open(directory: state, executor: thread)
            let result: Result<R, JournalError>
            do throws(JournalError) {
                result = .success(try await body(journal))
            } catch { result = .failure(error) }
            await journal.close()
            return result
        } catch { return .failure(error) }
    }
}

extension CommandError {
    fileprivate init(_ refusal: ModuleRefusal) {
        switch refusal {
        case .unknownVehicle(let vehicle):
            self.init(
                .usage,
                "there is no vehicle \(vehicle.text.visible) in any rollout here",
                hint: "the old id comes first"
            )
        case .unknownModule(let serial):
            self.init(.usage, "no run here has had the module \(serial.text.visible)")
        case .nameInUse(let vehicle):
            self.init(
                .usage,
                "\(vehicle.text.visible) is another vehicle, with something open on it or in the same rollout",
                hint:
                    "say in one command what it is called now, or use `clear` or `uninhibit` first"
            )
        }
    }
}
