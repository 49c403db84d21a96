import Domain
import Families
import Journal
import Protocols
import Simulation

/// What the modules of a depot say of themselves, and what the program says of them.
struct NightScene: Sendable {
    /// A vehicle by its own words.
    struct Vehicle: Sendable, Equatable {
        /// What its module runs; nil where that has no version.
        var version: FirmwareVersion?
        var isInBootloader = false
        /// Whether what it runs will still be run after its next restart.
        var isConfirmed = true
        /// Grows with what it is asked: links, exchanges, writes.
        var marks: [Int] = []
        /// What of an image it has, as far as it says.
        var received = 0
        /// Commands and requests that changed something, in their order.
        var deeds: [String] = []
        var isLocked: Bool?

        func count(of deed: String) -> Int { deeds.count { $0 == deed } }
    }

    var vehicles: [Vehicle] = []
    // What the program says, which `status` reads.
    var records: [ExecutionRecord] = []
    var debts: Set<String> = []
    /// What the other program has begun, and has not seen at rest.
    var debtsOfRival: Set<String> = []
    var doubts: Set<String> = []
    var owing: Set<String> = []
    var inhibited: Set<String> = []
    /// Vehicles that a run has the right to.
    var atWork: Set<String> = []
    var isDepotInhibited = false
    var holds: [String: Hold.Kind] = [:]
    var time = Moment(nanoseconds: 0)

    func isInhibited(_ name: String) -> Bool { isDepotInhibited || inhibited.contains(name) }

    func record(_ rollout: String, _ name: String) -> ExecutionRecord? {
        records.last { $0.rollout == rollout && $0.vehicle.text == name }
    }

    /// The modules alone.
    static func modules(_ depot: NightDepot, in world: World) -> [Vehicle] {
        var found = [Vehicle](repeating: Vehicle(), count: depot.story.vehicles.count)
        let index = depot.numbers
        for device in world.devices {
            guard let number = index[device.label] else { continue }
            switch device {
            case let module as ComoduleModule:
                found[number].version = module.runningVersion
                found[number].isInBootloader = module.isInBootloader
                found[number].received = module.receivedBytes
                found[number].marks += [module.exchanges]
            case let module as SMPModule:
                found[number].version = module.running.first?.version
                found[number].isConfirmed = module.isConfirmed
                found[number].received = module.receivedBytes
                found[number].marks += [module.writes]
            case let module as NordicModule:
                found[number].version = module.runningVersion
                found[number].isInBootloader = module.isInBootloader
                found[number].marks += [module.exchanges]
            case let module as ESPModule:
                found[number].version = module.runningVersion
                found[number].marks += [module.exchanges]
            case let module as LRDevice:
                found[number].deeds += module.done.map(\.description)
            default: break
            }
        }
        for visitor in world.visitors {
            guard let device = visitor as? GODevice, let number = index[device.label] else {
                continue
            }
            found[number].marks += [device.commandsReceived]
            found[number].deeds += device.executed.map(\.description)
            found[number].isLocked = device.vehicle.isLocked
        }
        return found
    }
}
