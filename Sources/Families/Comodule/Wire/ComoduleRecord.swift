package import Base

/// The content of a register: two bytes of id, eight of data.
package struct ComoduleRecord: Equatable, Sendable {
    package static let length = 10

    package let id: UInt16
    package let data: [UInt8]

    /// Shorter data is filled up with zeros, longer data is cut.
    package init(id: UInt16, data: [UInt8]) {
        self.id = id
        self.data = Array(data.prefix(8)) + [UInt8](repeating: 0, count: max(0, 8 - data.count))
    }

    /// Nil unless there are ten bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.init(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), data: Array(bytes[2...]))
    }

    package var bytes: [UInt8] { id.bigBytes + data }
}

/// The versions record FCFC: the running versions, and whether an image is being handed over.
package struct VersionsRecord: Equatable, Sendable {
    package static let id: UInt16 = 0xFCFC

    /// One byte for each number: a larger number is written as 255.
    package let primary: FirmwareVersion
    package let variant: UInt16
    /// Not zero while the module hands an image on to one of its parts.
    package let handoff: UInt8

    package init(primary: FirmwareVersion, variant: UInt16, handoff: UInt8) {
        self.primary = primary
        self.variant = variant
        self.handoff = handoff
    }

    /// Nil for a record of another kind.
    package init?(_ record: ComoduleRecord) {
        guard record.id == Self.id else { return nil }
        let data = record.data
        primary = FirmwareVersion(UInt32(data[0]), UInt32(data[1]), UInt32(data[2]))
        variant = UInt16(data[3]) | UInt16(data[4]) << 8
        handoff = data[5]
    }

    package var record: ComoduleRecord {
        ComoduleRecord(
            id: Self.id,
            data: [
                UInt8(clamping: primary.major), UInt8(clamping: primary.minor),
                UInt8(clamping: primary.patch),
            ] + variant.littleBytes + [handoff, 0, 1]
        )
    }
}

/// The record F0CC that announces the next image; the module takes it without authentication.
package struct PreflightRecord: Equatable, Sendable {
    package static let id: UInt16 = 0xF0CC

    package enum Target: UInt8, Sendable {
        /// The module's own image: its secondary MCU.
        case own = 0x00
        case primary = 0x01
        case external = 0x80
    }

    package let target: Target
    package let crc: UInt32
    package let file: UInt8

    package init(target: Target, crc: UInt32, file: UInt8 = 0) {
        self.target = target
        self.crc = crc
        self.file = file
    }

    /// The part of the module that the image is for.
    package var part: ModulePart {
        switch target {
        case .own: .secondary
        case .primary: .primary
        case .external: file == 2 ? .external2 : .external1
        }
    }

    package init?(_ record: ComoduleRecord) {
        guard record.id == Self.id else { return nil }
        // Every selector except the two known ones means the module's own image.
        target = Target(rawValue: record.data[0]) ?? .own
        crc = record.data[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
        file = record.data[5]
    }

    package var record: ComoduleRecord {
        ComoduleRecord(id: Self.id, data: [target.rawValue] + crc.bigBytes + [file])
    }
}

/// The components record FAFA: the versions of the parts that the module hands images on to.
package struct ComponentsRecord: Equatable, Sendable {
    package static let id: UInt16 = 0xFAFA

    package let motorController: FirmwareVersion
    package let battery: FirmwareVersion

    package init(motorController: FirmwareVersion, battery: FirmwareVersion) {
        self.motorController = motorController
        self.battery = battery
    }

    package init?(_ record: ComoduleRecord) {
        guard record.id == Self.id else { return nil }
        // As in the versions record: one byte for each number.
        func version(_ range: Range<Int>) -> FirmwareVersion {
            let numbers = record.data[range].map { UInt32($0) }
            return FirmwareVersion(numbers[0], numbers[1], numbers[2], build: numbers[3])
        }
        motorController = version(0..<4)
        battery = version(4..<8)
    }

    package var record: ComoduleRecord {
        func bytes(_ version: FirmwareVersion) -> [UInt8] {
            [version.major, version.minor, version.patch, version.build].map {
                UInt8(clamping: $0)
            }
        }
        return ComoduleRecord(id: Self.id, data: bytes(motorController) + bytes(battery))
    }
}

/// The power record 0401.
///
/// Its layout is not published: this is the layout of our generic profile and of our simulated
/// modules.
package struct PowerRecord: Equatable, Sendable {
    package static let id: UInt16 = 0x0401

    /// In percent.
    package let stateOfCharge: UInt8
    package let millivolts: UInt16

    package init(stateOfCharge: UInt8, millivolts: UInt16) {
        self.stateOfCharge = stateOfCharge
        self.millivolts = millivolts
    }

    package init?(_ record: ComoduleRecord) {
        guard record.id == Self.id, record.data[0] <= 100 else { return nil }
        stateOfCharge = record.data[0]
        millivolts = UInt16(record.data[1]) | UInt16(record.data[2]) << 8
    }

    package var record: ComoduleRecord {
        ComoduleRecord(id: Self.id, data: [stateOfCharge] + millivolts.littleBytes)
    }
}

/// The motion record 0201, in the layout of our generic profile.
package struct MotionRecord: Equatable, Sendable {
    package static let id: UInt16 = 0x0201

    /// In tenths of a kilometre an hour.
    package let speedTenths: UInt16

    package init(speedTenths: UInt16) { self.speedTenths = speedTenths }

    package init?(_ record: ComoduleRecord) {
        guard record.id == Self.id else { return nil }
        speedTenths = UInt16(record.data[0]) | UInt16(record.data[1]) << 8
    }

    package var record: ComoduleRecord {
        ComoduleRecord(id: Self.id, data: speedTenths.littleBytes)
    }
}
