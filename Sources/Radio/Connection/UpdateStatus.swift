package import Base

/// The update status of a module.
package enum UpdateStatus: Sendable, Hashable {
    case moduleNotConnected
    case fetchingUpdateInfo
    /// The check did not succeed, so it is not known whether there is an update.
    case checkFailed(String)
    case available(FirmwareTarget.Part)
    case upToDate
    case ongoing(FirmwareTarget.Part, UpdateStage)
    /// The module hands the image on to a part of its vehicle: this program neither started nor
    /// controls it.
    case moduleUpdatingComponent

    package var isOngoing: Bool {
        switch self {
        case .ongoing, .moduleUpdatingComponent: true
        case .moduleNotConnected, .fetchingUpdateInfo, .checkFailed, .available, .upToDate: false
        }
    }
}

/// A stage of an update that this program performs, and its progress.
package struct UpdateStage: Sendable, Hashable {
    package enum Kind: Int, CaseIterable, Sendable, Hashable, Comparable {
        case fetching = 1
        case initiating, uploading

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package let kind: Kind
    package let progress: Percent

    package init(_ kind: Kind, _ progress: Percent) {
        self.kind = kind
        self.progress = progress
    }

    /// All stages of an update, in order.
    package static let all = Kind.allCases
}

/// The result of a check for updates.
package enum UpdateCheck: Sendable, Hashable {
    case available(FirmwareTarget.Part)
    case upToDate
    case failed(String)
}

/// Derives the update status from events.
package struct UpdateTracker: Sendable, Hashable {
    private var isConnected = false
    private var check: UpdateCheck?
    private var ours: (FirmwareTarget.Part, UpdateStage)? {
        didSet { if ours == nil { check = nil } }
    }
    private var isHandingOn = false

    package init() {}

    package var status: UpdateStatus {
        // During our own update the link is lost and made again, so the connection state means
        // nothing.
        if let ours { return .ongoing(ours.0, ours.1) }
        guard isConnected else { return .moduleNotConnected }
        if isHandingOn { return .moduleUpdatingComponent }
        switch check {
        case nil: return .fetchingUpdateInfo
        case .available(let part): return .available(part)
        case .upToDate: return .upToDate
        case .failed(let words): return .checkFailed(words)
        }
    }

    package mutating func connected() {
        isConnected = true
        check = nil
    }

    package mutating func disconnected() {
        isConnected = false
        isHandingOn = false
        check = nil
    }

    /// The result of this connection's check.
    ///
    /// The caller drops results of earlier connections.
    package mutating func checked(_ result: UpdateCheck) {
        if isConnected { check = result }
    }

    /// The module reports that it hands an image on, or that it has stopped doing so.
    package mutating func handsOn(_ value: Bool) {
        // The module now runs something else, so the earlier check is obsolete.
        if isHandingOn, !value { check = nil }
        isHandingOn = value
    }

    package mutating func began(_ part: FirmwareTarget.Part, _ step: UpdateStage) {
        ours = (part, step)
    }

    /// The upload has ended, which is not the end of the update.
    package mutating func ended() { ours = nil }

    package static func == (left: UpdateTracker, right: UpdateTracker) -> Bool {
        left.status == right.status
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(status) }
}
