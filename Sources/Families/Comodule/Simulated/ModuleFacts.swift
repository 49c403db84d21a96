import Domain
import Protocols
import Wire

/// The facts that a simulated module keeps over a restart and over the end of our process.
struct ModuleFacts: Equatable {
    enum Mode: UInt8 {
        case application, bootloader
        /// Dead: runs nothing any more.
        case dead
    }

    var mode = Mode.application
    /// While it restarts: the time at which it starts in `mode`.
    var wakes: Moment?
    var version: FirmwareVersion
    var primaryVersion: FirmwareVersion
    var bootCount: UInt32 = 1
    var addressGeneration: UInt8 = 0
    var bootloaderName: [UInt8] = []
    var ongoingUntil: Moment?
    /// How often each fault of the plan has happened.
    var faultCounts: [UInt8]
    var transfer = TransferFacts()
    var updates: UpdateFacts
    /// The settings of the vehicle; nil while they are the initial ones.
    var vehicle: VehicleSettings?
    /// A digest of the plan's initial firmware.
    var baseline: UInt32

    init(plan: ModulePlan) {
        version = plan.version
        primaryVersion = plan.primaryVersion
        addressGeneration = plan.addressGeneration
        updates = UpdateFacts(plan: plan)
        faultCounts = [UInt8](repeating: 0, count: min(plan.faults.count, 255))
        baseline = Self.baseline(of: plan)
    }

    /// Changes when the depot file gives the module another initial firmware.
    static func baseline(of plan: ModulePlan) -> UInt32 {
        CRC32.of(
            Array(
                "\(plan.serial) \(plan.version) \(plan.primaryVersion) \(plan.firmwareType)".utf8
            )
        )
    }
}

// MARK: In flash

extension ModuleFacts {
    /// Called for every answer of the module: it allocates one array, and none for each number.
    var bytes: [UInt8] {
        var bytes = ByteWriter(capacity: 256 + transfer.initPacket.count)
        bytes.append(little: baseline)
        bytes.append(mode.rawValue)
        Self.append(wakes, to: &bytes)
        Self.append(version, to: &bytes)
        Self.append(primaryVersion, to: &bytes)
        bytes.append(little: bootCount)
        bytes.append(addressGeneration)
        Self.append(ongoingUntil, to: &bytes)
        bytes.append(UInt8(bootloaderName.count))
        bytes.append(contentsOf: bootloaderName)
        bytes.append(UInt8(faultCounts.count))
        bytes.append(contentsOf: faultCounts)
        bytes.append(little: UInt16(transfer.initPacket.count))
        bytes.append(contentsOf: transfer.initPacket)
        bytes.append(little: UInt32(transfer.initSize.map { $0 + 1 } ?? 0))
        bytes.append(transfer.initAccepted ? 1 : 0)
        bytes.append(little: UInt32(transfer.received))
        bytes.append(little: UInt32(transfer.executed))
        bytes.append(little: transfer.receivedCRC)
        bytes.append(little: transfer.executedCRC)
        bytes.append(little: UInt32(transfer.objectSize.map { $0 + 1 } ?? 0))
        updates.append(to: &bytes)
        if let vehicle { bytes.append(contentsOf: vehicle.bytes) }
        return bytes.bytes
    }

    /// Nil when the bytes were saved by another layout.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(OutOfBytes) {
            baseline = try reader.little()
            guard let mode = Mode(rawValue: try reader.byte()) else { return nil }
            self.mode = mode
            wakes = try Self.moment(&reader)
            version = try Self.version(&reader)
            primaryVersion = try Self.version(&reader)
            bootCount = try reader.little()
            addressGeneration = try reader.byte()
            ongoingUntil = try Self.moment(&reader)
            bootloaderName = try reader.bytes(Int(try reader.byte()))
            faultCounts = try reader.bytes(Int(try reader.byte()))
            transfer.initPacket = try reader.bytes(Int(try reader.little(UInt16.self)))
            transfer.initSize = try Self.optional(&reader)
            transfer.initAccepted = try reader.byte() == 1
            transfer.received = Int(try reader.little(UInt32.self))
            transfer.executed = Int(try reader.little(UInt32.self))
            transfer.receivedCRC = try reader.little()
            transfer.executedCRC = try reader.little()
            transfer.objectSize = try Self.optional(&reader)
            guard let updates = try UpdateFacts(&reader) else { return nil }
            self.updates = updates
            if !reader.isAtEnd { vehicle = try VehicleSettings(&reader) }
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }

    static func append(_ moment: Moment?, to bytes: inout ByteWriter) {
        bytes.append(little: UInt64(bitPattern: moment?.nanoseconds ?? -1))
    }

    static func append(_ version: FirmwareVersion, to bytes: inout ByteWriter) {
        bytes.append(little: version.major)
        bytes.append(little: version.minor)
        bytes.append(little: version.patch)
        bytes.append(little: version.build)
    }

    static func moment(_ reader: inout ByteReader) throws(OutOfBytes) -> Moment? {
        let nanoseconds = Int64(bitPattern: try reader.little(UInt64.self))
        return nanoseconds < 0 ? nil : Moment(nanoseconds: nanoseconds)
    }

    static func version(
        _ reader: inout ByteReader
    ) throws(OutOfBytes) -> FirmwareVersion {
        FirmwareVersion(
            try reader.little(),
            try reader.little(),
            try reader.little(),
            build: try reader.little()
        )
    }

    private static func optional(_ reader: inout ByteReader) throws(OutOfBytes) -> Int? {
        let value = try reader.little(UInt32.self)
        return value == 0 ? nil : Int(value) - 1
    }
}
