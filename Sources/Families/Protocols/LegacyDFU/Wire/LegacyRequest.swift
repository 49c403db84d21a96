/// A request that is written to the control point.
package enum LegacyRequest: Equatable, Sendable {
    /// The sizes follow on the packet characteristic; an application enters its bootloader instead.
    case start(LegacyImageType)
    case beginInit
    case endInit
    case receive
    case validate
    /// Stores that the image must run, and restarts.
    case activate
    case reset
    case reportSize
    /// Demands a receipt after this many packets; 0 switches receipts off.
    case receipts(every: UInt16)

    package enum Operation: UInt8, CaseIterable, Sendable {
        case start = 1
        case initialize, receive, validate, activate, reset, reportSize, receipts
    }

    package var operation: Operation {
        switch self {
        case .start: .start
        case .beginInit, .endInit: .initialize
        case .receive: .receive
        case .validate: .validate
        case .activate: .activate
        case .reset: .reset
        case .reportSize: .reportSize
        case .receipts: .receipts
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .start(let type): [operation.rawValue, type.rawValue]
        case .beginInit: [operation.rawValue, 0]
        case .endInit: [operation.rawValue, 1]
        case .receive, .validate, .activate, .reset, .reportSize: [operation.rawValue]
        case .receipts(let count):
            [operation.rawValue, UInt8(truncatingIfNeeded: count), UInt8(count >> 8)]
        }
    }

    /// Reads a request as a bootloader does; nil for unknown bytes.
    package init?(_ bytes: [UInt8]) {
        guard let first = bytes.first, let operation = Operation(rawValue: first) else {
            return nil
        }
        switch operation {
        case .start where bytes.count == 2: self = .start(LegacyImageType(rawValue: bytes[1]))
        case .initialize where bytes.count == 2 && bytes[1] <= 1:
            self = bytes[1] == 0 ? .beginInit : .endInit
        case .receive: self = .receive
        case .validate: self = .validate
        case .activate: self = .activate
        case .reset: self = .reset
        case .reportSize: self = .reportSize
        case .receipts where bytes.count >= 3:
            self = .receipts(every: UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
        case .start, .initialize, .receipts: return nil
        }
    }
}
