package import Base

/// The program of a module that answers.
package enum ModuleRole: String, Sendable {
    case application
    /// The module waits for an image, or has received part of one.
    case bootloader
}

/// What a module's application reports about itself; this decides whether it may get an image.
package struct Inspection: Equatable, Sendable {
    package var firmware: ModuleFirmware
    /// Whether the module is busy with an update, or hands an image on to one of its parts.
    package var isOngoing: Bool
    /// False while the image runs on trial and is lost at the next restart.
    package var isConfirmed: Bool
    /// The versions of its parts, as far as the module reports them.
    package var versions: [ModulePart: FirmwareVersion]
    /// Whether the module sends data to the cloud through us; nil when it does not report this.
    package var sendsToCloud: Bool?

    package init(
        firmware: ModuleFirmware,
        isOngoing: Bool = false,
        isConfirmed: Bool = true,
        versions: [ModulePart: FirmwareVersion] = [:],
        sendsToCloud: Bool? = nil
    ) {
        self.firmware = firmware
        self.isOngoing = isOngoing
        self.isConfirmed = isConfirmed
        self.versions = versions
        self.sendsToCloud = sendsToCloud
    }
}

/// How the transfer of a part begins.
package enum TransferStart: Equatable, Sendable {
    /// The module is not known to have anything of it.
    case fresh
    /// The module once had some of it, and may still have it.
    case begun
    /// What the module has of it is unusable.
    case again
}

/// What a module has of the image that is to be sent: the basis for resuming an interrupted
/// transfer.
package struct UpdateProbe: Equatable, Sendable {
    /// What the module has of one part.
    package enum Holding: Equatable, Sendable {
        case none
        /// This many bytes from the start, and they are those of our image.
        case some(Int)
        /// This many bytes from the start of an image that the module cannot name: they are ours when
        /// our transfer had begun before.
        case unnamed(Int)
        /// The whole part: nothing is left to send.
        case whole
        /// The whole part, and the next restart runs it.
        case pending
        /// The module runs the part.
        case running
    }

    /// In the order of the image's parts.
    package var holdings: [Holding]
    /// Whether the module has data of another image.
    package var isForeign: Bool

    package init(holdings: [Holding], isForeign: Bool = false) {
        self.holdings = holdings
        self.isForeign = isForeign
    }

    /// The module has nothing, or nothing known.
    package static func nothing(parts: Int) -> UpdateProbe {
        UpdateProbe(holdings: Array(repeating: .none, count: parts))
    }

    /// The index of the first part that the module does not have in full; nil when it has all.
    package var firstMissing: Int? {
        holdings.firstIndex { holding in
            switch holding {
            case .none, .some, .unnamed: true
            case .whole, .pending, .running: false
            }
        }
    }

    /// Whether the module has a part of an image that may be another one.
    var hasUnnamed: Bool {
        holdings.contains { if case .unnamed = $0 { true } else { false } }
    }

    /// Whether the module has anything of our image.
    package var isOurs: Bool { holdings.contains { $0 != .none } }
}
