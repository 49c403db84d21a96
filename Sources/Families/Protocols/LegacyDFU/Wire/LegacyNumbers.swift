package import Base

/// Names and numbers of the legacy DFU service (nRF5 SDK up to 11).
package enum LegacyNumbers {
    package static let service = uuid(0x1530)
    package static let controlPoint = Characteristic(uuid(0x1531), of: service)
    package static let packet = Characteristic(uuid(0x1532), of: service)
    /// Tells application and bootloader apart; the oldest devices do not have it.
    package static let version = Characteristic(uuid(0x1534), of: service)

    /// The only packet length that every bootloader accepts, on any link.
    package static let packetLength = 20

    private static func uuid(_ short: UInt64) -> GATTUUID {
        GATTUUID(short << 32 | 0x1212_EFDE, 0x1523_785F_EABC_D123)
    }
}

/// The kinds of firmware in a legacy package, as the bits of a start request.
package struct LegacyImageType: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let softDevice = Self(rawValue: 1)
    package static let bootloader = Self(rawValue: 2)
    package static let application = Self(rawValue: 4)
}

/// The lengths that follow a start request, in a packet of their own.
package struct LegacySizes: Sendable, Equatable {
    package let softDevice: UInt32
    package let bootloader: UInt32
    package let application: UInt32

    package init(softDevice: UInt32 = 0, bootloader: UInt32 = 0, application: UInt32 = 0) {
        self.softDevice = softDevice
        self.bootloader = bootloader
        self.application = application
    }

    /// Nil unless there are three words.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 12 else { return nil }
        func word(_ start: Int) -> UInt32 {
            bytes[start..<(start + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.init(softDevice: word(0), bootloader: word(4), application: word(8))
    }

    package var bytes: [UInt8] {
        [softDevice, bootloader, application].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) }
        }
    }

    package var total: UInt64 { UInt64(softDevice) + UInt64(bootloader) + UInt64(application) }
}
