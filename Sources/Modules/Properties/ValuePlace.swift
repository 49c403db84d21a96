package import Domain

/// Where the bytes are that hold a property.
package enum ValuePlace: Sendable, Hashable {
    /// A record by its number, or the answer to a request by its command and namespace.
    case record(UInt16)
    case characteristic(Characteristic)
    /// One number of a group of statistics.
    case statistic(String, entry: String)
    /// A value by its key; what is written is kept over a restart where it `isSaved`.
    case setting(String, isSaved: Bool)
    case file(String)

    /// The ways in which a profile names a place; each by its first key.
    package enum Kind: String, CaseIterable, Sendable, Hashable {
        case register, command, characteristic, statistic, setting, file
    }

    /// The most bytes that a value there has.
    package var limit: Int {
        switch self {
        case .record: ByteField.recordLength - ByteField.firstByte
        case .characteristic, .setting: 512
        case .statistic: 8
        case .file: 4_096
        }
    }

    /// The value is all that is there, so that it can have any length.
    package var isWhole: Bool {
        switch self {
        case .record, .statistic: false
        case .characteristic, .setting, .file: true
        }
    }
}
