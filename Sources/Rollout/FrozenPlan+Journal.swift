import Base
package import Manifest
package import Store

extension FrozenPlan {
    /// The vehicles of its list with their modules, for the journal.
    package var listed: [ListedVehicle] { list.map { ListedVehicle($0.id, $0.serial) } }

    /// The plan with which these executions were begun, by the ids that the vehicles have now.
    package func following(_ executions: [ExecutionRecord]) -> FrozenPlan {
        var ids: [Serial: VehicleID] = [:]
        for record in executions where record.plan == digest { ids[record.serial] = record.vehicle }
        return ids.isEmpty ? self : calling(ids)
    }
}
