package import Base

/// The numbers of one group of statistics, by name.
package struct SMPStatistics: Equatable, Sendable {
    package let fields: [String: UInt64]

    /// Values that are not non-negative integers are left out.
    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let members = body["fields"]?.members else { throw .value("fields") }
        var fields: [String: UInt64] = [:]
        for member in members {
            guard let name = member.key.text, case .unsigned(let number) = member.value else {
                continue
            }
            fields[name] = number
        }
        self.fields = fields
    }
}

/// The bytes of one setting.
package struct SMPSetting: Equatable, Sendable {
    package let value: [UInt8]

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let value = body["val"]?.bytes else { throw .value("val") }
        self.value = value
    }
}

/// A piece of a file that a device sends.
package struct SMPFileContent: Equatable, Sendable {
    package let offset: Int
    package let data: [UInt8]
    /// The length of the whole file, in the first piece only.
    package let length: Int?

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let offset = body["off"]?.integer, offset >= 0 else { throw .value("off") }
        guard let data = body["data"]?.bytes else { throw .value("data") }
        if let value = body["len"] {
            guard let length = value.integer, length >= 0 else { throw .value("len") }
            self.length = length
        } else {
            length = nil
        }
        self.offset = offset
        self.data = data
    }
}

/// The number of bytes of a file that a device has.
package struct SMPFileTaken: Equatable, Sendable {
    package let offset: Int

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let offset = body["off"]?.integer, offset >= 0 else { throw .value("off") }
        self.offset = offset
    }
}
