package import Domain

/// Which of a module's programs answers.
package enum ModuleRole: String, Sendable {
    case application
    /// It waits for an image, or has part of one.
    case bootloader
}

/// What a module's application says about itself: decides whether it may have an image.
package struct Inspection: Equatable, Sendable {
    package var firmware: ModuleFirmware
    /// The module is busy with an update, or hands an image on to one of its parts.
    package var isOngoing: Bool
    /// False while the image runs on trial and goes away with the next restart.
    package var isConfirmed: Bool
    /// What its parts run, as far as it tells.
    package var versions: [ModulePart: FirmwareVersion]

    package init(
        firmware: ModuleFirmware,
        isOngoing: Bool = false,
        isConfirmed: Bool = true,
        versions: [ModulePart: FirmwareVersion] = [:]
    ) {
        self.firmware = firmware
        self.isOngoing = isOngoing
        self.isConfirmed = isConfirmed
        self.versions = versions
    }
}

/// How sending a part begins.
package enum TransferStart: Equatable, Sendable {
    /// Nobody knows of anything that the module has of it.
    case fresh
    /// The module had some of it once, and may still know it.
    case begun
    /// What it has of it is no good.
    case again
}

/// What a module has of an image that is to be sent: the way back into a broken transfer.
package struct UpdateProbe: Equatable, Sendable {
    /// What is there of one part.
    package enum Holding: Equatable, Sendable {
        case none
        /// So many bytes from the start, and they are ours.
        case some(Int)
        /// All of it: nothing is left to send.
        case whole
        /// All of it, and the next restart runs it.
        case pending
        /// It is what runs.
        case running
    }

    /// In the order of the image's parts.
    package var holdings: [Holding]
    /// What is there belongs to another image.
    package var isForeign: Bool

    package init(holdings: [Holding], isForeign: Bool = false) {
        self.holdings = holdings
        self.isForeign = isForeign
    }

    /// Nothing there, or nothing that is known.
    package static func nothing(parts: Int) -> UpdateProbe {
        UpdateProbe(holdings: Array(repeating: .none, count: parts))
    }

    /// The first part that is not there as a whole; nil when all are.
    package var firstMissing: Int? {
        holdings.firstIndex { holding in
            switch holding {
            case .none, .some: true
            case .whole, .pending, .running: false
            }
        }
    }

    /// Whether anything of our image is there.
    package var isOurs: Bool { holdings.contains { $0 != .none } }
}
