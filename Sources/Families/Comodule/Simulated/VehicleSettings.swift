import Base

/// The settings and state of a simulated vehicle, in the registers of the generic layout.
package struct VehicleSettings: FlashFacts, Sendable, Equatable {
    /// Twenty bytes; empty until the module is created.
    package var key: [UInt8] = []
    package var assist: UInt8 = 0
    package var walk: UInt8 = 0
    package var lights: UInt8 = 0
    package var mode: UInt8 = 0
    package var millivolts: UInt16 = 36_000
    package var temperature: Int8 = 21
    package var odometerMetres: UInt32 = 1_234_567
    package var motorSerial: [UInt8] = Array("MS000001".utf8)
    package var label: [UInt8] = [0, 0, 0, 0]
    package var speedLimitTenths: UInt16 = 250
    package var clock: UInt32 = 0
    package var clockZone: Int16 = 0
    package var sendsToCloud = false
    /// The counter of a storm; not saved.
    var stormSpeed: UInt16?

    package init() {}

    /// The records that can change on the vehicle or by a command.
    static let records: [UInt16] = [0x0300, 0x0401, 0x0502]

    /// The record with the bootloader's version and whether the module sends data to the cloud.
    func boot(_ version: FirmwareVersion) -> ComoduleRecord {
        ComoduleRecord(
            id: 0xFBFB,
            data: [
                UInt8(clamping: version.major), UInt8(clamping: version.minor),
                UInt8(clamping: version.patch), sendsToCloud ? 1 : 0,
            ]
        )
    }

    func power(stateOfCharge: UInt8) -> ComoduleRecord {
        ComoduleRecord(
            id: PowerRecord.id,
            data: [stateOfCharge] + millivolts.littleBytes + [UInt8(bitPattern: temperature)]
        )
    }

    func record(_ id: UInt16) -> ComoduleRecord? {
        let data: [UInt8]
        switch id {
        case 0x0202: data = [0, 0, 0, 0] + odometerMetres.littleBytes
        case 0x0300: data = [assist, walk, lights, mode]
        case 0x0501: data = motorSerial
        case 0x0502: data = label + speedLimitTenths.bigBytes
        default: return nil
        }
        return ComoduleRecord(id: id, data: data)
    }

    /// Takes a record that was written; returns the ids of the records that it changes.
    mutating func take(_ record: ComoduleRecord) -> [UInt16] {
        let before = self
        let data = record.data
        switch record.id {
        case 0x00D1: (lights, assist, mode) = (data[0], data[1], data[2])
        case 0x0502:
            label = Array(data[..<4])
            speedLimitTenths = UInt16(data[4]) << 8 | UInt16(data[5])
        case 0xF000:
            clock = data[..<4].reduce(0) { $0 << 8 | UInt32($1) }
            clockZone = Int16(bitPattern: UInt16(data[4]) << 8 | UInt16(data[5]))
        default: break
        }
        return Self.records.filter { before.record($0) != self.record($0) }
    }

    package mutating func keep(in fields: inout FlashFields) {
        fields.keep(&key)
        fields.keep(&assist)
        fields.keep(&walk)
        fields.keep(&lights)
        fields.keep(&mode)
        fields.keep(&label)
        fields.keep(&speedLimitTenths)
    }
}

extension ComoduleNumbers {
    /// Whether the characteristic, or its service, has this number in the public descriptions.
    static func stands(_ short: UInt16, for characteristic: Characteristic) -> Bool {
        let long = GATTUUID(UInt64(short) << 32 | 0x1212_EFDE, 0x1523_785F_EABC_D123)
        let name = GATTUUID(short: short)
        return [long, name].contains(characteristic.uuid)
            || [long, name].contains(characteristic.service)
    }

    /// The exchange that reading or writing a characteristic is; nil for characteristics of
    /// updates.
    static func exchange(
        _ characteristic: Characteristic,
        isRead: Bool
    ) -> ModulePlan.Exchange? {
        switch characteristic {
        case challenge: .challenge
        case response: .response
        case authenticated: .state
        case selector: .selector
        case register: isRead ? .register : .command
        case key: .key
        case notifier: .notifier
        case manufacturerName, firmwareRevision, hardwareRevision, softwareRevision: .information
        default: nil
        }
    }
}
