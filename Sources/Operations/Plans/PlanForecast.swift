package import Base
import Glibc
package import Manifest
package import Radio
import Rollout
import Show
import Store

/// The effect that a run of a plan would have, according to the journal and the manifest.
package struct PlanForecast {
    /// One vehicle of the plan.
    package struct Row {
        package let vehicle: PlannedVehicle
        /// Counted from 1.
        let wave: Int
        package let fate: Fate
        package let took: Duration
        let ground: Estimate.Ground
    }

    /// The forecast for a vehicle, and the reason.
    package struct Fate {
        package enum Kind: String { case work, resume, look, inhibited, quarantined, excluded }

        package let kind: Kind
        package let reason: String
    }

    struct Wave {
        let number: Int
        let vehicles: Int
        let took: Duration
    }

    package let rows: [Row]
    let waves: [Wave]
    let gates: [String]
    let links: Int
    let adapters: [String]
    let total: Duration
    let window: String?
    let fitsWindow: Bool?
    /// The next three, and the same in words.
    let openings: [OpenTimes.Span]
    let opens: String?
    /// The rollout of this name in the journal.
    let rollout: RolloutRecord?

    package init(
        _ plan: FrozenPlan,
        vehicles: [PlannedVehicle],
        adapters: [String],
        knowledge: Knowledge,
        profiles: ProfileLibrary,
        zone: Zone,
        now: WallTime
    ) {
        self.adapters = adapters
        rollout = knowledge.rollout
        let updated = vehicles.filter { $0.steps.contains { $0.update != nil } }
        links = plan.links(on: adapters, for: Set(updated.map(\.family)), by: knowledge.links)
        let estimate = Estimate(
            knowledge.measures,
            quiet: plan.settle.quiet,
            gap: plan.settle.confirmGap
        )
        let versions = Dictionary(
            plan.images.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let sizes = versions.mapValues { Self.size(of: $0) }
        let waveOf = Self.waveNumbers(plan)
        var airtimes = [[Duration]](repeating: [], count: plan.waveSizes.count)
        var rows: [Row] = []
        rows.reserveCapacity(vehicles.count)
        let builder = StepBuilder(profiles)
        for vehicle in vehicles {
            let images = vehicle.steps.compactMap { $0.update?.image }
            var fate = knowledge.fate(of: vehicle, images.compactMap { versions[$0] }, plan, zone)
            if fate.kind == .work || fate.kind == .look,
                let (problem, otherwise) = builder.problemAhead(of: vehicle)
            {
                fate = Fate(kind: .excluded, reason: Self.words(problem, otherwise))
            }
            var bytes = 0
            switch fate.kind {
            case .work: bytes = images.reduce(0) { $0 + (sizes[$1] ?? 0) }
            case .resume: bytes = knowledge.left(of: vehicle.id)
            case .look, .inhibited, .quarantined, .excluded: break
            }
            let time = Self.time(of: vehicle, fate.kind, bytes: bytes, plan, estimate)
            let wave = waveOf[vehicle.id] ?? 1
            airtimes[wave - 1].append(time.air)
            let (took, ground) = (time.all, time.ground)
            rows.append(Row(vehicle: vehicle, wave: wave, fate: fate, took: took, ground: ground))
        }
        self.rows = rows
        waves = Self.waves(airtimes, links, estimate)
        let soaks = plan.rollout.between.soak * max(waves.count - 1, 0)
        total = waves.reduce(soaks) { $0 + $1.took }
        gates = plan.gates(among: vehicles.count)
        (window, fitsWindow) = Self.window(plan, total, zone, now)
        openings = plan.openTimes(in: zone)?.next(3, after: now) ?? []
        opens =
            openings.isEmpty ? nil : "the window opens next at \(openings.words(zone.text))"
    }

    /// The waves by the times that their vehicles occupy an adapter.
    private static func waves(
        _ airtimes: [[Duration]],
        _ links: Int,
        _ estimate: Estimate
    ) -> [Wave] {
        airtimes.enumerated().map { index, airtimes in
            let took = estimate.makespan(ofAirtimes: airtimes, links: links)
            return Wave(number: index + 1, vehicles: airtimes.count, took: took)
        }
    }

    private static func waveNumbers(_ plan: FrozenPlan) -> [VehicleID: Int] {
        var waveOf: [VehicleID: Int] = [:]
        for (index, wave) in Waves.vehicles(plan).enumerated() {
            for vehicle in wave { waveOf[vehicle] = index + 1 }
        }
        return waveOf
    }

    /// How long a vehicle needs an adapter, how long it takes in all, and what both are based on.
    private static func time(
        of vehicle: PlannedVehicle,
        _ kind: Fate.Kind,
        bytes: Int,
        _ plan: FrozenPlan,
        _ estimate: Estimate
    ) -> (air: Duration, all: Duration, ground: Estimate.Ground) {
        var (airtime, ground) = estimate.airtime(
            vehicle.id,
            model: Waves.stratum(of: vehicle, plan.rollout.spread),
            bytes: ByteCount(bytes: bytes) ?? .zero
        )
        switch kind {
        case .work, .resume: break
        case .look: airtime = .seconds(3)
        case .inhibited, .quarantined, .excluded: airtime = .zero
        }
        guard bytes > 0 else { return (airtime, airtime, .assumed) }
        return (airtime, estimate.duration(ofAirtime: airtime), ground)
    }

    private static func size(of image: PlannedImage) -> Int {
        if let size = image.size { return size.bytes }
        guard case .file(let file) = image.source else { return 0 }
        var facts = stat()
        return stat(file.path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// A text such as "to be skipped: label.hold is yes, required is != yes".
    private static func words(_ problem: Problem, _ otherwise: Otherwise) -> String {
        let fate =
            switch otherwise {
            case .defer: "to be deferred"
            case .skip: "to be skipped"
            case .fail: "to fail"
            case .warn: "warned about"
            }
        return "\(fate): \(problem.check) is \(problem.measured), required is \(problem.required)"
    }

    private static func window(
        _ plan: FrozenPlan,
        _ total: Duration,
        _ zone: Zone,
        _ now: WallTime
    ) -> (String?, Bool?) {
        guard let rule = plan.rollout.window, let times = plan.openTimes(in: zone) else {
            return (nil, nil)
        }
        var text = rule.words
        var left = total
        var nights = 0
        switch times.state(at: now) {
        case .open(let until):
            left -= now.duration(to: until)
            nights = 1
            text += "; open now, until \(zone.text(until))"
        case .closed(let opens?):
            text += "; closed now, opens at \(zone.text(opens))"
        case .closed(nil): return ("\(text); it does not open any more", false)
        }
        for span in times.next(mostNights, after: now) where left > .zero || nights == 0 {
            left -= span.opens.duration(to: span.closes)
            nights += 1
        }
        if nights == 1, left <= .zero { return (text + "; this fits", true) }
        let count = left > .zero ? "more than \(nights)" : "about \(nights)"
        return ("\(text); this does not fit: \(count) nights", false)
    }

    /// More are not counted.
    private static let mostNights = 100
}

extension FrozenPlan {
    /// The number of links with which a run begins; when no adapter is named, one is assumed.
    func links(
        on adapters: [String],
        for families: Set<Family>,
        by records: [LinkRecord]
    ) -> Int {
        let learned = LinkRecord.links(records, for: families)
        func count(_ links: Int?) -> Int { min(links ?? 1, radio.linksPerAdapter) }
        guard !adapters.isEmpty else { return count(learned.values.max()) }
        return adapters.reduce(0) { $0 + count(learned[$1]) }
    }
}

extension PlanForecast {
    /// The facts in the journal.
    package struct Knowledge {
        var rollout: RolloutRecord?
        var records: [VehicleID: ExecutionRecord] = [:]
        var measures: [Measure] = []
        var links: [LinkRecord] = []
        var inhibits: [VehicleID: Inhibit] = [:]
        var depot: Inhibit?
        var failures: [VehicleID: [FailureCount]] = [:]
        var recalls: [Recall] = []
        /// Why the journal could not be read.
        var fault: JournalError?

        init() {}

        /// Without a readable journal, all facts are empty.
        package init(state: String, rollout: String, at now: WallTime) {
            do throws(JournalError) {
                self = try JournalReader(directory: state).read { view throws(JournalError) in
                    var known = Knowledge()
                    known.rollout = try view.rollout(rollout)
                    for record in try view.executions(rollout: rollout) {
                        known.records[record.vehicle] = record
                    }
                    known.measures = try view.measures()
                    known.links = try view.links()
                    known.recalls = try view.recalls()
                    for inhibit in try view.inhibits(at: now) {
                        if let vehicle = inhibit.vehicle {
                            known.inhibits[vehicle] = inhibit
                        } else {
                            known.depot = inhibit
                        }
                    }
                    for failure in try view.failures(atLeast: 1) {
                        known.failures[failure.vehicle, default: []].append(failure)
                    }
                    return known
                }
            } catch {
                self.init()
                if error.kind != .missing { fault = error }
            }
        }

        /// The bytes that a module in the middle of an update still lacks.
        func left(of vehicle: VehicleID) -> Int {
            guard let record = records[vehicle], let total = record.totalBytes else { return 0 }
            return max(0, total.bytes - (record.acknowledged?.bytes ?? 0))
        }

        func fate(
            of vehicle: PlannedVehicle,
            _ images: [PlannedImage],
            _ plan: FrozenPlan,
            _ zone: Zone
        ) -> Fate {
            if let inhibit = inhibits[vehicle.id] ?? depot {
                let until = inhibit.expires.map { " until \(zone.text($0))" } ?? ""
                return Fate(kind: .inhibited, reason: "inhibited\(until): \(inhibit.reason)")
            }
            if let limit = plan.rollout.quarantineAfter,
                let count = failures[vehicle.id]?.first(where: { failure in
                    failure.count >= limit && images.contains { $0.digest == failure.release }
                })
            {
                return Fate(
                    kind: .quarantined,
                    reason: "in quarantine after \(count.count) failures: \(count.message)"
                )
            }
            let recall = recalls.first { recall in images.contains { $0.digest == recall.image } }
            if let recall, records[vehicle.id]?.acted != true {
                return Fate(kind: .excluded, reason: "to be rejected: \(recall.sentence)")
            }
            guard let record = records[vehicle.id], record.serial == vehicle.serial else {
                return Fate(kind: .work, reason: "not seen by this rollout so far")
            }
            if record.inBootloader || (record.end == nil && record.image != nil) {
                let done = record.acknowledged.map { " at \($0)" } ?? ""
                return Fate(kind: .resume, reason: "in the middle of an update\(done): first")
            }
            if let version = record.versionAfter, !images.isEmpty,
                images.allSatisfy({ $0.version == version })
            {
                return Fate(kind: .look, reason: "ran \(version) at \(zone.text(record.updated))")
            }
            guard let end = record.end else {
                let isBegun = record.linked || record.acted
                return Fate(
                    kind: .work,
                    reason: isBegun ? "begun at \(zone.text(record.started))" : "not begun"
                )
            }
            return Fate(kind: .work, reason: "\(end.outcome.rawValue) before: \(end.message)")
        }
    }
}
