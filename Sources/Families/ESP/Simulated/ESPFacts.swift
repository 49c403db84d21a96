import Domain
import Wire

/// The facts that a simulated ESP device keeps over a restart and over the end of our process.
struct ESPFacts: Equatable {
    /// While it restarts: the time when it is back.
    var wakes: Moment?
    var version: FirmwareVersion
    var isDead = false
    /// How often each fault of the plan has happened.
    var faultCounts: [UInt8]
    /// A digest of the plan's initial firmware.
    var baseline: UInt32

    init(plan: ESPPlan) {
        version = plan.version
        faultCounts = [UInt8](repeating: 0, count: min(plan.faults.count, 255))
        baseline = Self.baseline(of: plan)
    }

    static func baseline(of plan: ESPPlan) -> UInt32 {
        CRC32.of(Array("esp \(plan.serial) \(plan.version)".utf8))
    }

    var bytes: [UInt8] {
        var bytes = baseline.littleBytes + [isDead ? 1 : 0]
        bytes += UInt64(bitPattern: wakes?.nanoseconds ?? -1).littleBytes
        bytes += version.major.littleBytes + version.minor.littleBytes
        bytes += version.patch.littleBytes + version.build.littleBytes
        return bytes + [UInt8(faultCounts.count)] + faultCounts
    }

    /// Nil when the bytes were saved by another layout.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(OutOfBytes) {
            baseline = try reader.little()
            isDead = try reader.byte() == 1
            let wakes = Int64(bitPattern: try reader.little(UInt64.self))
            self.wakes = wakes < 0 ? nil : Moment(nanoseconds: wakes)
            version = FirmwareVersion(
                try reader.little(),
                try reader.little(),
                try reader.little(),
                build: try reader.little()
            )
            faultCounts = try reader.bytes(Int(try reader.byte()))
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }
}
