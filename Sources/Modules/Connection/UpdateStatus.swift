package import Domain

/// Where a module stands with its updates.
package enum UpdateStatus: Sendable, Hashable {
    case moduleNotConnected
    case fetchingUpdateInfo
    /// The check did not succeed: nothing is known, and nothing is claimed.
    case checkFailed(String)
    case available(FirmwareTarget.Part)
    case upToDate
    case ongoing(FirmwareTarget.Part, UpdateStage)
    /// The module hands the image on to a part of its vehicle: neither begun nor controlled by us.
    case moduleUpdatingComponent

    package var isOngoing: Bool {
        switch self {
        case .ongoing, .moduleUpdatingComponent: true
        case .moduleNotConnected, .fetchingUpdateInfo, .checkFailed, .available, .upToDate: false
        }
    }
}

/// A step of an update that we carry out, and how far it is.
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

    /// All steps of an update, in order.
    package static let all = Kind.allCases
}

/// What a check for updates says.
package enum UpdateCheck: Sendable, Hashable {
    case available(FirmwareTarget.Part)
    case upToDate
    case failed(String)
}

/// Makes the status out of what happens.
package struct UpdateTracker: Sendable, Hashable {
    private var isConnected = false
    private var check: UpdateCheck?
    private var ours: (FirmwareTarget.Part, UpdateStage)? {
        didSet { if ours == nil { check = nil } }
    }
    private var isHandingOn = false

    package init() {}

    package var status: UpdateStatus {
        // While we update, the link comes and goes, and that says nothing.
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

    /// What the check of this connection said; one of an earlier connection is dropped by the caller.
    package mutating func checked(_ result: UpdateCheck) {
        if isConnected { check = result }
    }

    /// The module says that it hands an image on, or that it does not any more.
    package mutating func handsOn(_ value: Bool) {
        // What it runs has changed: what was checked before says nothing any more.
        if isHandingOn, !value { check = nil }
        isHandingOn = value
    }

    package mutating func began(_ part: FirmwareTarget.Part, _ step: UpdateStage) {
        ours = (part, step)
    }

    /// The upload is over: that is not the end of the update.
    package mutating func ended() { ours = nil }

    package static func == (left: UpdateTracker, right: UpdateTracker) -> Bool {
        left.status == right.status
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(status) }
}
