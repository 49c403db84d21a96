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
        var bytes = ByteWriter(capacity: 128)
        bytes.append(little: baseline)
        bytes.append(mode.rawValue)
        bytes.append(isErased ? 1 : 0)
        ModuleFacts.append(wakes, to: &bytes)
        ModuleFacts.append(version, to: &bytes)
        bytes.append(UInt8(bootloaderName.count))
        bytes.append(contentsOf: bootloaderName)
        bytes.append(UInt8(faultCounts.count))
        bytes.append(contentsOf: faultCounts)
        return bytes.bytes
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
