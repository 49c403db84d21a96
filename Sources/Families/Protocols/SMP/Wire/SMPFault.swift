/// A result code that every group can answer with.
package struct SMPCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let unknown = Self(rawValue: 1)
    package static let noMemory = Self(rawValue: 2)
    package static let invalid = Self(rawValue: 3)
    package static let timedOut = Self(rawValue: 4)
    package static let noEntry = Self(rawValue: 5)
    package static let badState = Self(rawValue: 6)
    package static let tooLong = Self(rawValue: 7)
    package static let notSupported = Self(rawValue: 8)
    package static let corrupt = Self(rawValue: 9)
    package static let busy = Self(rawValue: 10)
    package static let denied = Self(rawValue: 11)
    package static let versionTooOld = Self(rawValue: 12)
    package static let versionTooNew = Self(rawValue: 13)

    private static let words = [
        "no error", "unknown error", "no memory", "invalid value", "timed out", "no such thing",
        "not in this state", "message too long", "not supported", "corrupt", "busy",
        "access denied", "protocol version too old", "protocol version too new",
    ]

    package var description: String {
        Self.words.indices.contains(rawValue)
            ? Self.words[rawValue] : "error \(rawValue) of its own"
    }
}

/// A result code of the image group (version 2 of the protocol).
package struct SMPImageCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let unknown = Self(rawValue: 1)
    package static let noImage = Self(rawValue: 3)
    package static let hashNotFound = Self(rawValue: 8)
    package static let noFreeSlot = Self(rawValue: 9)
    package static let flashOpen = Self(rawValue: 10)
    package static let flashWrite = Self(rawValue: 12)
    package static let flashErase = Self(rawValue: 13)
    package static let invalidSlot = Self(rawValue: 14)
    package static let offsetMissing = Self(rawValue: 20)
    package static let lengthMissing = Self(rawValue: 21)
    package static let headerTooShort = Self(rawValue: 22)
    package static let headerMagic = Self(rawValue: 23)
    package static let invalidHash = Self(rawValue: 24)
    package static let currentIsNewer = Self(rawValue: 27)
    package static let alreadyPending = Self(rawValue: 28)
    package static let tooLarge = Self(rawValue: 30)
    package static let dataOverrun = Self(rawValue: 31)
    package static let confirmDenied = Self(rawValue: 32)
    package static let testOfActive = Self(rawValue: 33)

    private static let words = [
        "no error", "unknown error", "the flash layout cannot be read", "no image there",
        "the image has no trailing values", "a trailing value of the image is bad",
        "the image has several hashes", "a trailing value of the image has a wrong size",
        "no image with this hash", "no free slot", "the flash cannot be opened",
        "the flash cannot be read", "the flash cannot be written", "the flash cannot be erased",
        "no such slot", "no memory", "its flash context is set already",
        "its flash context is not set", "no flash device", "a bad flash page",
        "the offset is missing", "the length is missing", "the image's header is too short",
        "the image's header has a wrong magic number", "a hash of the wrong length",
        "a bad flash address", "the running version cannot be read",
        "the running version is newer", "an image is pending already",
        "the image's vector table is bad", "the image is too large", "more data than announced",
        "confirming is denied", "the running image cannot be set for a test",
        "the running slot is not known",
    ]

    package var description: String {
        Self.words.indices.contains(rawValue) ? Self.words[rawValue] : "image error \(rawValue)"
    }
}

/// The error in a device's answer, in either form of the protocol.
package enum SMPFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A plain number, with the device's own text when there is one.
    case code(SMPCode, reason: String?)
    /// An error number of the image group.
    case image(SMPImageCode)
    /// An error number of another group.
    case group(UInt16, Int)

    package init(group: UInt16, code: Int) {
        self =
            group == SMPNumbers.Group.image
            ? .image(SMPImageCode(rawValue: code)) : .group(group, code)
    }

    package var isBusy: Bool {
        guard case .code(.busy, _) = self else { return false }
        return true
    }

    /// Whether the device lacks the command or the whole group.
    package var isNotSupported: Bool {
        guard case .code(.notSupported, _) = self else { return false }
        return true
    }

    package var description: String {
        switch self {
        case .code(let code, let reason): reason.map { "\(code) (\($0))" } ?? code.description
        case .image(let code): code.description
        case .group(let group, let code):
            SMPValueCode.words(group, code) ?? "error \(code) of group \(group)"
        }
    }

    /// Whether the device has no value or file of the requested name.
    package var isAbsence: Bool {
        switch self {
        case .code(let code, _): code == .noEntry
        case .image: false
        case .group(let group, let code): SMPValueCode.absences[group]?.contains(code) ?? false
        }
    }
}
