package import Base

/// The place of a property's bytes.
package enum ValuePlace: Sendable, Hashable {
    /// A record by its number, or the answer to a request by its command and namespace.
    case record(UInt16)
    case characteristic(Characteristic)
    /// One number of a group of statistics.
    case statistic(String, entry: String)
    /// A value by its key. A written value survives a restart only if `isSaved`.
    case setting(String, isSaved: Bool)
    case file(String)
    /// A value by its number, behind a wire of the family's own.
    case value(UInt16)

    /// The kinds of place, each by the first key with which a profile writes it.
    package enum Kind: String, CaseIterable, Sendable, Hashable {
        case register, command, characteristic, statistic, setting, file, value
    }

    /// The longest value of the place, in bytes.
    package var limit: Int {
        switch self {
        case .record: ByteField.recordLength - ByteField.firstByte
        case .characteristic, .setting, .value: 512
        case .statistic: 8
        case .file: 4_096
        }
    }

    /// Whether the value is the only content of its place, so that its length may vary.
    package var isWhole: Bool {
        switch self {
        case .record, .statistic: false
        case .characteristic, .setting, .file, .value: true
        }
    }
}
