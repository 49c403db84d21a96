import Base
import Store
import Synchronization

/// Reports to the fleet's database how well this gateway hears the vehicles of its rollout.
///
/// These are hints for the choice between gateways; without an answer of the database this gateway
/// continues alone.
final class FleetHearing: Sendable {
    private struct State {
        /// In dBm.
        var signals: [VehicleID: Int] = [:]
        /// Vehicles whose signal the database does not have yet.
        var unreported: Set<VehicleID> = []
    }

    /// A signal that has changed by less is not reported again, in dB.
    private static let leastChange = 3
    /// How many signals are reported in one statement.
    private static let mostAtOnce = 1_000

    private let fleet: FleetDatabase
    private let holder: FleetHolder
    private let rollout: String
    private let part: FleetPart
    private let state = Mutex(State())

    init(_ fleet: FleetDatabase, as holder: FleetHolder, of rollout: String, _ part: FleetPart) {
        (self.fleet, self.holder) = (fleet, holder)
        (self.rollout, self.part) = (rollout, part)
    }

    private var isCompared: Bool { part.wave != nil && !part.isPartial }

    /// Stores how well vehicles are heard.
    ///
    /// The first signals are reported immediately, because gateways compare them from the first claim on; later ones
    /// are reported with the signs of life.
    func hears(_ signals: [VehicleID: Int]) async {
        let isFirst = state.withLock { state in
            let isFirst = state.signals.isEmpty
            for (vehicle, signal) in signals {
                let known = state.signals[vehicle]
                guard known.map({ abs($0 - signal) >= Self.leastChange }) ?? true else { continue }
                state.signals[vehicle] = signal
                state.unreported.insert(vehicle)
            }
            return isFirst
        }
        if isFirst { await report() }
    }

    /// Reports the signals that the database does not have yet.
    func report() async {
        guard isCompared else { return }
        while true {
            let batch = state.withLock { state in
                state.unreported.sorted { $0.text < $1.text }.prefix(Self.mostAtOnce)
                    .compactMap { vehicle in
                        state.signals[vehicle].map { (vehicle: vehicle, signal: $0) }
                    }
            }
            if batch.isEmpty { return }
            do throws(FleetError) {
                try await fleet.hear(batch, of: rollout, beginning: part.beginning, as: holder)
            } catch { return }
            state.withLock { state in
                for (vehicle, signal) in batch where state.signals[vehicle] == signal {
                    state.unreported.remove(vehicle)
                }
            }
        }
    }

    /// Reports all signals again: a database with another history may have lost them.
    func reportsAgain() {
        state.withLock { $0.unreported = Set($0.signals.keys) }
    }

    /// Reports that an attempt failed on the radio; returns the gateway that tries next, nil for this one.
    func failed(
        _ lease: FleetLease,
        _ vehicle: VehicleID,
        signal: Int?,
        isLost: Bool
    ) async -> String? {
        guard isCompared else { return nil }
        if isLost {
            state.withLock { state in
                state.signals[vehicle] = nil
                state.unreported.remove(vehicle)
            }
        }
        do throws(FleetError) {
            return try await fleet.wear(
                lease,
                vehicle,
                of: rollout,
                beginning: part.beginning,
                signal: signal,
                isLost: isLost,
                as: holder
            )
        } catch { return nil }
    }
}
