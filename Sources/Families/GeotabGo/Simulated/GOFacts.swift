import Domain
import Wire

/// The facts about a simulated GO device and its vehicle that outlive our process.
struct GOFacts: Equatable {
    let vehicle: GOPlan.Vehicle
    /// How often each fault of the plan has happened.
    let faultCounts: [Int]
    /// A digest of the vehicle's initial state in the plan.
    private let baseline: UInt32

    init(plan: GOPlan, vehicle: GOPlan.Vehicle, faults: [Int]) {
        self.vehicle = vehicle
        faultCounts = faults
        baseline = Self.baseline(of: plan)
    }

    /// The saved facts; the initial ones when nothing was saved or the plan's initial state has
    /// changed.
    init(plan: GOPlan, saved: [UInt8]?) {
        let fresh = Self(plan: plan, vehicle: plan.vehicle, faults: plan.faults.map { _ in 0 })
        guard let facts = saved.flatMap({ Self($0, over: plan.vehicle) }),
            facts.baseline == fresh.baseline, facts.faultCounts.count == plan.faults.count
        else {
            self = fresh
            return
        }
        self = facts
    }

    private static func baseline(of plan: GOPlan) -> UInt32 {
        CRC32.of(Array("go \(plan.serial) \(plan.hardwareID) \(plan.vehicle)".utf8))
    }
}

// MARK: In the depot's memory

extension GOFacts {
    var bytes: [UInt8] {
        let flags = [
            vehicle.isIgnitionOn, vehicle.isLocked, vehicle.isTrunkOpen, vehicle.isInhibited,
            vehicle.reservation != nil,
        ]
        let reservation = Array((vehicle.reservation ?? "").utf8)
        return baseline.littleBytes + flags.map { $0 ? 1 : 0 }
            + UInt16(clamping: reservation.count).littleBytes + reservation
            + [UInt8(clamping: faultCounts.count)] + faultCounts.map { UInt8(clamping: $0) }
    }

    /// Facts that no command changes are taken from `vehicle`; nil when the bytes have another
    /// layout.
    private init?(_ bytes: [UInt8], over vehicle: GOPlan.Vehicle) {
        var reader = ByteReader(bytes)
        var vehicle = vehicle
        do throws(OutOfBytes) {
            baseline = try reader.little()
            vehicle.isIgnitionOn = try reader.byte() == 1
            vehicle.isLocked = try reader.byte() == 1
            vehicle.isTrunkOpen = try reader.byte() == 1
            vehicle.isInhibited = try reader.byte() == 1
            let isBooked = try reader.byte() == 1
            let length = Int(try reader.little(UInt16.self))
            let reservation = String(decoding: try reader.bytes(length), as: UTF8.self)
            vehicle.reservation = isBooked ? reservation : nil
            faultCounts = try reader.bytes(Int(try reader.byte())).map(Int.init)
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
        self.vehicle = vehicle
    }
}
