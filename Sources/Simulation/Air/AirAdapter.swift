import Base
import Radio

/// One of the program's controllers in the simulated world.
final class AirAdapter {
    enum Power { case on, off, missing }

    let name: String
    var power = Power.on
    /// How many links it carries at the same time.
    var linkLimit: Int
    var links: [AirLink] = []
    /// The MTU of its links, whatever the devices request; nil to let the devices decide.
    var mtu: Int?
    /// Time in which links were being made or were up, summed over all links.
    var linked = Duration.zero
    /// When the current connection event ends: all links share one radio.
    var busyUntil = Moment(nanoseconds: 0)

    private(set) var scanners: [Int: AirScanner] = [:]
    /// Devices whose advertisements are scheduled as events in this scan.
    var heard: Set<ObjectIdentifier> = []
    private(set) var scanGeneration = 0
    private var scanBegan = Moment(nanoseconds: 0)
    private var nextScanner = 0
    /// The radio listens for `window` in every `interval`.
    var scanInterval: Duration = .milliseconds(60)
    var scanWindow: Duration = .milliseconds(60)

    init(name: String, linkLimit: Int) {
        self.name = name
        self.linkLimit = linkLimit
    }

    /// Adds a scanner; the first one begins the scan.
    func add(
        _ filter: ScanFilter,
        at now: Moment,
        listener: ((Advertisement) -> Void)? = nil
    ) -> Int {
        if scanners.isEmpty {
            scanGeneration += 1
            scanBegan = now
            heard = []
        }
        nextScanner += 1
        scanners[nextScanner] = AirScanner(filter, listener)
        return nextScanner
    }

    func removeScanner(_ id: Int) {
        scanners[id] = nil
    }

    func removeAllScanners() {
        scanners = [:]
        heard = []
    }

    /// Whether any scanner wants this advertiser's broadcasts.
    func wants(_ broadcast: Broadcast) -> Bool {
        scanners.values.contains { $0.filter.passes(broadcast.heard) }
    }

    func hear(_ broadcast: Broadcast, at now: Moment) {
        guard power == .on else { return }
        let into = scanBegan.duration(to: now).nanoseconds % scanInterval.nanoseconds
        guard into < scanWindow.nanoseconds else { return }
        for (_, scanner) in scanners.sorted(by: { $0.key < $1.key })
        where scanner.filter.passes(broadcast.heard) {
            scanner.heard.put(broadcast.heard)
        }
    }
}

/// One listener and the advertisements that it has not asked for yet.
struct AirScanner {
    let filter: ScanFilter
    let heard: Inbox<Advertisement>

    init(_ filter: ScanFilter, _ listener: ((Advertisement) -> Void)? = nil) {
        self.filter = filter
        heard = Inbox(bound: 256, listener: listener)
    }
}
