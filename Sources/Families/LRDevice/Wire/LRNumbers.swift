package import Base

/// The service and characteristics of an LR device, with the identifiers that its open source kit
/// uses by default.
package enum LRNumbers {
    /// Reserved by the Bluetooth SIG and assigned to no company; this kit uses it nevertheless.
    package static let company: UInt16 = 0xFFFF
    package static let service = uuid(0)
    /// Requests are written to it, with a response.
    package static let request = Characteristic(uuid(1), of: service)
    /// It sends replies and notifications.
    package static let reply = Characteristic(uuid(2), of: service)

    /// The inputs from which HKDF derives a sealing key, besides the agreed secret.
    package static let keySalt = Array("9iac7i7zikocotce9gn3ji7lztz8rltn".utf8)
    package static let keyInfo = Array("smartlockperipheral".utf8)

    /// The serial is the six bytes that follow the company identifier.
    package static func serial(manufacturerData: [UInt8]) -> Serial? {
        manufacturerData.count == 6 ? Serial(bytes: manufacturerData) : nil
    }

    private static func uuid(_ first: UInt64) -> GATTUUID {
        GATTUUID(first << 32 | 0x9F34_11EE, 0x8C90_0242_AC12_0002)
    }
}
