import Base
import Store

/// Says what a vehicle of a fleet's rollout waits for before it is begun; the first reason that applies.
struct FleetWaits {
    private let view: FleetView
    private let ground: FleetGround
    private let shared: SharedStanding
    private let inhibited: Set<VehicleID>
    private let isDepotInhibited: Bool

    init(_ view: FleetView, _ ground: FleetGround, _ shared: SharedStanding) {
        self.view = view
        self.ground = ground
        self.shared = shared
        inhibited = Set(ground.inhibits.compactMap(\.vehicle))
        isDepotInhibited = ground.inhibits.contains { $0.vehicle == nil }
    }

    /// Nil for a vehicle that has ended or is worked on.
    func reason(_ vehicle: FleetVehicle) -> String? {
        guard vehicle.state != .ended, shared.holders[vehicle.vehicle] == nil else { return nil }
        if isDepotInhibited || inhibited.contains(vehicle.vehicle) {
            return "waits for 'uninhibit': it is left alone"
        }
        if let hold = view.rollout.hold {
            return hold.kind == .paused ? "waits for 'resume': the rollout is paused" : nil
        }
        if shared.closed != nil {
            return "waits for the fleet's database, which grants no rights now"
        }
        if let holder = vehicle.holder { return reason(holder) }
        if vehicle.wave > view.rollout.wave { return "waits for wave \(vehicle.wave + 1)" }
        guard shared.isAtWork else {
            return "waits for a run: no gateway is at work on the rollout"
        }
        if view.isFull {
            return "waits for a place at the gate: \(view.underWay) under way could all fail"
        }
        if let left = vehicle.leftBy { return "left alone by \(left.visible)" }
        if !vehicle.missedBy.isEmpty {
            let names = vehicle.missedBy.map(\.visible).joined(separator: ", ")
            let others = shared.workers.filter {
                $0.state == .working && !vehicle.missedBy.contains($0.gateway)
            }.map(\.gateway.visible)
            return "not heard by \(names)"
                + (others.isEmpty ? "" : "; \(others.joined(separator: ", ")) may hear it")
        }
        return "waits for a gateway with a free link"
    }

    private func reason(_ holder: FleetVehicle.Holder) -> String {
        let name = holder.gateway.visible
        if holder.left > .zero {
            return "waits for \(name), which has its module for \(holder.vehicle.visible) of "
                + holder.rollout.visible
        }
        let rest = LeaseTerms.standard.takeoverWait + holder.left
        return "waits for \(name), which has vanished with the right to its module: "
            + (rest > .zero ? "free for others in \(rest.brief)" : "free for others now")
    }
}
