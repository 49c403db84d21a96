import Base
import Rollout
import Store

extension FleetCoordinator {
    /// Reports progress, for `status` and the like; no right depends on it.
    func tellProgress(of work: [Lease]) async {
        var all: [FleetProgress] = []
        for lease in work.sorted(by: { $0.serial.text < $1.serial.text }) {
            guard
                let record = try? await journal.execution(
                    rollout: rollout,
                    vehicle: lease.vehicle
                )
            else { continue }
            var progress = FleetProgress(
                FleetLease(serial: lease.serial, epoch: lease.epoch),
                run: run
            )
            if record.end == nil, record.state != .queued { progress.doing = record.state.rawValue }
            progress.acknowledged = record.acknowledged?.bytes
            progress.total = record.totalBytes?.bytes
            if let debt = try? await journal.debt(of: lease.serial) {
                progress.note(debt, isSeen: record.linked)
            }
            all.append(progress)
        }
        do throws(FleetError) { try await fleet.report(all, of: holder) } catch {}
    }
}

extension FleetPost {
    /// Reports the progress of updates that were begun here and are not proven.
    func tellDebts() async throws(JournalError) {
        guard let holder else { return }
        var all: [FleetProgress] = []
        for debt in try await journal.fleetOpen().debts {
            guard let epoch = try await journal.fleetEpoch(of: debt.serial)?.epoch,
                let record = try await journal.execution(debt.execution)
            else { continue }
            var progress = FleetProgress(
                FleetLease(serial: debt.serial, epoch: epoch),
                run: debt.seenRun
            )
            progress.note(debt, isSeen: record.linked)
            all.append(progress)
        }
        do throws(FleetError) { try await fleet.report(all, of: holder) } catch {}
    }
}

extension FleetProgress {
    /// An update that another gateway began is reported only after this one has seen the module.
    fileprivate mutating func note(_ debt: Debt, isSeen: Bool) {
        guard isSeen else { return }
        image = debt.image.description
        acknowledged = debt.acknowledged
        isInBootloader = debt.inBootloader
    }
}
