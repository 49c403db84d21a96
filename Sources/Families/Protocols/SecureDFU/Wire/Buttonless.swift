package import Base

/// A request that is written to the buttonless characteristic while the application runs.
package enum ButtonlessRequest: Equatable, Sendable {
    case enterBootloader
    /// The name under which the bootloader will advertise.
    case setName(BootloaderName)

    package var bytes: [UInt8] {
        switch self {
        case .enterBootloader: [0x01]
        case .setName(let name):
            [0x02, UInt8(truncatingIfNeeded: name.text.utf8.count)] + Array(name.text.utf8)
        }
    }
}

/// The same request as a module reads it, with any name that the service allows.
package enum ButtonlessOrder: Equatable, Sendable {
    case enterBootloader
    /// 1 to 20 bytes.
    case setName([UInt8])

    /// Throws the refusal that a module answers with.
    package init(_ bytes: [UInt8]) throws(ButtonlessRefusal) {
        switch bytes.first {
        case 0x01? where bytes.count == 1: self = .enterBootloader
        case 0x02?:
            guard (3...22).contains(bytes.count), Int(bytes[1]) == bytes.count - 2 else {
                throw ButtonlessRefusal(operation: 0x02, result: .badName)
            }
            self = .setName(Array(bytes[2...]))
        case let operation?:
            throw ButtonlessRefusal(operation: operation, result: .notSupported)
        case nil:
            throw ButtonlessRefusal(operation: 0x00, result: .notSupported)
        }
    }
}

/// The indication for bytes that are not an order.
package struct ButtonlessRefusal: Error, Equatable, Sendable {
    package let operation: UInt8
    package let result: ButtonlessResponse.Result
}

/// An indication of the buttonless characteristic: the request and its result.
package struct ButtonlessResponse: Equatable, Sendable {
    package let operation: UInt8
    package let result: Result

    package enum Result: UInt8, CaseIterable, Sendable {
        case success = 0x01
        case notSupported = 0x02
        case failed = 0x04
        case badName = 0x05
        case busy = 0x06
        case notBonded = 0x07
    }

    package init(operation: UInt8, result: Result) {
        self.operation = operation
        self.result = result
    }

    /// Nil unless the bytes are `20 operation result` with a known result.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 3, bytes[0] == 0x20, let result = Result(rawValue: bytes[2]) else {
            return nil
        }
        self.init(operation: bytes[1], result: result)
    }

    package var bytes: [UInt8] { [0x20, operation, result.rawValue] }
}

extension ButtonlessResponse.Result: CustomStringConvertible {
    package var description: String {
        switch self {
        case .success: "done"
        case .notSupported: "the module does not know the request"
        case .failed: "the module could not start its bootloader"
        case .badName: "the module does not accept the bootloader's name"
        case .busy: "the module is busy"
        case .notBonded: "the module wants a bond first"
        }
    }
}

/// The name that a bootloader advertises, made from the serial.
///
/// In a full depot several bootloaders may advertise at the same time. A name for each keeps us
/// from flashing the wrong module, and lets a run without a journal find its module again.
package struct BootloaderName: Hashable, Sendable {
    private static let prefix = "YM"
    /// The longest name that the buttonless service accepts.
    private static let limit = 20

    package let text: String

    /// Nil for a text that no bootloader accepts as its name.
    package init?(_ text: String) {
        guard (1...Self.limit).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// Nil when the serial is too long for a name.
    package init?(of serial: Serial) {
        let name = Self.prefix + serial.text
        guard name.utf8.count <= Self.limit else { return nil }
        text = name
    }

    /// The serial in an advertised name; nil when the name is not one of ours.
    ///
    /// `digits` is the number of hex digits of a serial.
    package static func serial(in name: String, digits: Int = 16) -> Serial? {
        let rest = name.dropFirst(prefix.count)
        // A foreign device's name may begin with the same two letters.
        guard name.hasPrefix(prefix), rest.utf8.count == digits, Hex.bytes(rest) != nil else {
            return nil
        }
        return Serial(rest)
    }
}
