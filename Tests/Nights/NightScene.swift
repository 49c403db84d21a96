import Base
import Families
import Simulation
import Store

/// The state of a depot's modules, and the program's records about them.
struct NightScene: Sendable {
    /// A vehicle according to its own module.
    struct Vehicle: Sendable, Equatable {
        /// The version that its module runs; nil when it has none.
        var version: FirmwareVersion?
        var isInBootloader = false
        /// Whether the module will still run this image after its next restart.
        var isConfirmed = true
        /// Counts of links, exchanges and writes, which grow with each use.
        var marks: [Int] = []
        /// The number of image bytes that it has received, as far as it shows this.
        var received = 0
        /// The commands and requests that changed something, in order.
        var deeds: [String] = []
        var isLocked: Bool?
        /// The key that opens it; nil where no person changes keys.
        var key: [UInt8]?

        /// What it runs, and how.
        var firmware: String {
            let version = version.map { "\($0)" } ?? "none"
            return version + (isInBootloader ? ", in its bootloader" : "")
                + (isConfirmed ? "" : ", on trial")
        }

        func count(of deed: String) -> Int { deeds.count { $0 == deed } }
    }

    var vehicles: [Vehicle] = []
    /// What the vehicles are called.
    var ids = NightNames()
    // The program's records, which `status` reads.
    var records: [ExecutionRecord] = []
    /// Of modules in no vehicle, the serials.
    var debts: Set<String> = []
    /// Updates that the other program has begun and not seen at rest.
    var debtsOfRival: Set<String> = []
    var doubts: Set<String> = []
    var owing: Set<String> = []
    var inhibited: Set<String> = []
    /// Vehicles to which a run has the right.
    var atWork: Set<String> = []
    var isDepotInhibited = false
    var holds: [String: Hold.Kind] = [:]
    /// Images of which no transfer begins.
    var recalls: Set<SHA256Digest> = []
    var time = Moment(nanoseconds: 0)

    func isInhibited(_ name: String) -> Bool { isDepotInhibited || inhibited.contains(name) }

    /// The vehicle's last execution by a plan, or by any when there is none.
    func record(
        _ rollout: String,
        _ name: String,
        by plan: SHA256Digest? = nil
    ) -> ExecutionRecord? {
        let all = records.filter { $0.rollout == rollout && ids.name($0.vehicle) == name }
        return plan.flatMap { plan in all.last { $0.plan == plan } } ?? all.last
    }

    /// The state of the modules alone.
    static func modules(
        _ depot: NightDepot,
        _ ids: NightNames,
        in world: World
    ) -> [Vehicle] {
        var found = [Vehicle](repeating: Vehicle(), count: depot.story.vehicles.count)
        let index = depot.numbers(ids)
        for device in world.devices {
            guard let number = index[device.label] else { continue }
            switch device {
            case let module as ComoduleModule:
                found[number].version = module.runningVersion
                found[number].isInBootloader = module.isInBootloader
                found[number].received = module.receivedBytes
                found[number].marks += [module.exchanges]
                found[number].key = module.settings.key
            case let module as SMPModule:
                found[number].version = module.running.first?.version
                found[number].isConfirmed = module.isConfirmed
                found[number].received = module.receivedBytes
                found[number].marks += [module.exchanges]
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
