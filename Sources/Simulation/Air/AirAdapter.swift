import Base
import Radio

/// One of the program's controllers in the simulated world.
final class AirAdapter {
    enum Power { case on, off, missing }

    let name: String
    var power = Power.on
    /// How many links it accepts at the same time.
    var linkLimit: Int
    /// How many of them it keeps up; nil for all.
    let steadyLinks: Int?
    var links: [AirLink] = []
    /// The MTU of its links, whatever the devices request; nil to let the devices decide.
    var mtu: Int?
    /// Time in which links were being made or were up, summed over all links.
    var linked = Duration.zero
    let transceiver = Transceiver()

    private(set) var scanners: [Int: AirScanner] = [:]
    /// Devices whose advertisements are scheduled as events in this scan.
    var heard: Set<ObjectIdentifier> = []
    private(set) var scanGeneration = 0
    private var scanBegan = Moment(nanoseconds: 0)
    private var nextScanner = 0
    /// The radio listens for `window` in every `interval`.
    var scanInterval: Duration = .milliseconds(60)
    var scanWindow: Duration = .milliseconds(60)

    init(name: String, linkLimit: Int, steadyLinks: Int? = nil) {
        self.name = name
        self.linkLimit = linkLimit
        self.steadyLinks = steadyLinks
    }

    /// Adds a link; one beyond those that it keeps up falls silent some time later.
    func add(_ link: AirLink) {
        links.append(link)
        guard let steadyLinks, links.count > steadyLinks else { return }
        let delay = link.world.random.below(Int(Self.longestExcess.nanoseconds))
        link.world.after(.nanoseconds(delay)) { [weak self, weak link] in
            guard let self, let link, link.isUp, links.count > steadyLinks else { return }
            link.fallSilent()
        }
    }

    /// How long a link beyond those that it keeps up carries packets at most.
    private static let longestExcess = Duration.seconds(5)

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
        guard power == .on, !transceiver.isBusy(at: now) else { return }
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
