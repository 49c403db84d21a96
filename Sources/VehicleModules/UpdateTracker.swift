/// Derives the update status of a module from events.
struct UpdateTracker: Sendable {
    private var isConnected = false
    private var check: ModuleUpdateCheck?
    /// An update by this program, and its stage.
    private var ours: ModuleUpdateStatus? {
        didSet { if ours == nil { check = nil } }
    }
    private var isHandingOn = false

    var status: ModuleUpdateStatus {
        // During our own update the link is lost and made again, so the connection state means
        // nothing.
        if let ours { return ours }
        guard isConnected else { return .moduleNotConnected }
        if isHandingOn { return .moduleUpdatingComponent }
        switch check {
        case nil: return .fetchingUpdateInfo
        case .available(let part, _): return .available(part: part)
        case .upToDate: return .upToDate
        case .failed(let words): return .checkFailed(words)
        }
    }

    /// The available update: its part, and what gets its image.
    var offer: (part: String, image: FirmwareImage.Source)? {
        guard case .available = status, case .available(let part, let image) = check else {
            return nil
        }
        return (part, image)
    }

    mutating func connected() {
        isConnected = true
        check = nil
    }

    mutating func disconnected() {
        isConnected = false
        isHandingOn = false
        check = nil
    }

    /// The result of this connection's check.
    ///
    /// The caller drops results of earlier connections.
    mutating func checked(_ result: ModuleUpdateCheck) {
        if isConnected { check = result.checked }
    }

    /// The module reports that it hands an image on, or that it has stopped doing so.
    mutating func handsOn(_ value: Bool) {
        // The module now runs something else, so the earlier check is obsolete.
        if isHandingOn, !value { check = nil }
        isHandingOn = value
    }

    mutating func began(_ part: String, _ step: ModuleUpdateStatus.Step, percent: Double) {
        ours = .ongoing(part: part, step, percent: percent)
    }

    /// The upload has ended, which is not the end of the update.
    mutating func ended() { ours = nil }
}
