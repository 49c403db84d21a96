import Domain
import Wire

/// The facts that a simulated Nordic device keeps over a restart and over the end of our process.
struct NordicFacts: Equatable {
    var mode = ModuleFacts.Mode.application
    /// While it restarts: the time when it is back.
    var wakes: Moment?
    var version: FirmwareVersion
    /// Whether its bootloader erased the application: only an image then restores it.
    var isErased = false
    var bootloaderName: [UInt8] = []
    /// How often each fault of the plan has happened.
    var faultCounts: [UInt8]
    /// A digest of the device's initial state in the plan.
    var baseline: UInt32

    init(plan: NordicPlan) {
        version = plan.version
        faultCounts = [UInt8](repeating: 0, count: min(plan.faults.count, 255))
        baseline = Self.baseline(of: plan)
    }

    static func baseline(of plan: NordicPlan) -> UInt32 {
        CRC32.of(Array("nordic \(plan.serial) \(plan.version) \(plan.bootloader)".utf8))
    }

    var bytes: [UInt8] {
        var bytes = baseline.littleBytes + [mode.rawValue, isErased ? 1 : 0]
        ModuleFacts.append(wakes, to: &bytes)
        bytes += version.major.littleBytes + version.minor.littleBytes
        bytes += version.patch.littleBytes + version.build.littleBytes
        bytes += [UInt8(bootloaderName.count)] + bootloaderName
        return bytes + [UInt8(faultCounts.count)] + faultCounts
    }

    /// Nil when the bytes were saved by another layout.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(OutOfBytes) {
            baseline = try reader.little()
            guard let mode = ModuleFacts.Mode(rawValue: try reader.byte()) else { return nil }
            self.mode = mode
            isErased = try reader.byte() == 1
            wakes = try ModuleFacts.moment(&reader)
            version = try ModuleFacts.version(&reader)
            bootloaderName = try reader.bytes(Int(try reader.byte()))
            faultCounts = try reader.bytes(Int(try reader.byte()))
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }
}
