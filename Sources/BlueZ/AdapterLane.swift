import DBus
import Domain
import Radio

/// What is going on at one adapter; touched by the actor `BlueZ` only.
final class AdapterLane {
    /// What the operator calls the adapter.
    let word: String
    var scanner = ScannerMachine()
    var ladder = WatchdogLadder()
    var cap: LinkCap
    /// Connecting is done one at a time.
    var turn = Turn()
    /// Above zero while somebody connects with the scan paused.
    var pauses = 0
    /// Above zero while somebody who connects needs the scan for it.
    var searches = 0
    var users: [UInt64: ScanUser] = [:]
    var watchdog: Alarm?
    /// When the last advertisement was heard, or the scan began.
    var lastHeard: Moment?
    /// Links whose services were not found, by address.
    var unresolved: [String: Int] = [:]
    /// Whether a central is connected to a service of ours here.
    var servesCentral = false

    init(_ word: String, cap: Int) {
        self.word = word
        self.cap = LinkCap(cap)
    }

    var wantsScan: Bool { searches > 0 || pauses == 0 && !users.isEmpty }

    /// The adapter or BlueZ is gone: all who scan are told.
    func ended(_ error: RadioError) {
        scanner.lost()
        watchdog?.cancel()
        watchdog = nil
        fail(error)
    }

    func fail(_ error: RadioError) {
        for user in users.values { user.mailbox.end(error) }
    }
}

/// One who scans, with what is kept for it.
struct ScanUser {
    let filter: ScanFilter
    let mailbox: Mailbox<Advertisement>
}

/// A scan as the seam has it.
struct BlueZScan: Scan {
    let mailbox: Mailbox<Advertisement>
    let time: any Timekeeper

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        try await mailbox.next(within: time.now.duration(to: deadline))
    }
}
