import Base
import Images
import Manifest
import Samples
import Servers
import Site
import Store
import Workbench

/// Some nights at an update server with an operator, drawn from a seed.
///
/// The operator assigns, cancels, deletes; `sync` is killed, answers are lost, the server is away. The
/// runs are written as the program writes them, with modules that are only a version. The judge knows
/// what the modules really run and when runs have proven it.
final class ServedLife {
    /// What lives have in common: the images in a store.
    final class Ground {
        let scratch: Scratch
        let files: [String: [UInt8]]
        let settings: ServerSettings
        let plan: FrozenPlan
        let fetcher: ImageFetcher
        fileprivate let threads: [ThreadExecutor]

        init() throws {
            scratch = try Scratch()
            files = try Dictionary(
                uniqueKeysWithValues: [UInt32(2), 3].map { major in
                    let version = FirmwareVersion(major, 0)
                    return (
                        "tracker-\(major).img",
                        try MCUbootFile.sample(size: 600, version: version).bytes
                    )
                }
            )
            let text = serversText.replacing("controller:", with: "confirm: night\n    controller:")
            guard
                let settings = ServersReader.read(text.bytes, path: "servers.yaml").servers?.first,
                let plan = try ServedYard.plan(manifestText, at: "tallinn.yaml")
            else { throw Broken("the files of the lives are wrong") }
            (self.settings, self.plan) = (settings, plan)
            threads = [try .start(name: "journal"), try .start(name: "images")]
            fetcher = ImageFetcher(
                into: StoreFolder(stateDirectory: scratch.path),
                settings: FetchSettings(),
                time: StillTime(),
                seed: 1,
                executor: threads[1]
            )
        }

        func end() async {
            await fetcher.stop()
            for thread in threads { thread.stop() }
        }
    }

    /// A promise that is broken.
    struct Broken: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// One vehicle's work of a night.
    private struct Task {
        let vehicle: Int
        let action: String
        let image: SHA256Digest
        let version: FirmwareVersion
    }

    private static let rollout = "tallinn-servers"
    private let ground: Ground
    private let server: FakeServer
    private let journal: Journal
    private var chance: SplitMix64
    /// Whether runs ignore that an action has ended: the judge must see that.
    private let isDeaf: Bool
    private var plan: [Task] = []
    private var isRunning = false
    private(set) var nights = 0

    // What is true.
    private var versions = [FirmwareVersion](repeating: FirmwareVersion(1, 0), count: 2)
    private var runs = 0
    /// The newest run that is over; one that was killed is over when the next one begins.
    private var over = 0
    private var assigned: [String: Int] = [:]
    /// The newest run when a whole `sync` had seen the action.
    private var seen: [String: Int] = [:]
    private var proofs: [(version: FirmwareVersion, run: Int)?] = [nil, nil]
    private var failures: [[(version: FirmwareVersion, run: Int)]] = [[], []]
    /// Actions that are over, as this gateway has learned or said.
    private var ended: Set<String> = []

    init(seed: UInt64, on ground: Ground, isDeaf: Bool = false) async throws {
        self.ground = ground
        self.isDeaf = isDeaf
        chance = SplitMix64(seed: seed)
        server = FakeServer([])
        server.with { $0.files = ground.files }
        journal = try await Journal.inMemory(executor: ground.threads[0])
    }

    private func draw(_ share: Int) -> Bool { chance.below(100) < UInt64(share) }

    func live() async throws {
        for _ in 0..<(2 + chance.below(4)) {
            nights += 1
            for _ in 0..<chance.below(3) { operate() }
            try await speak()
            try await run()
            try await speak()
        }
        // Nothing disturbs any more: what is proven is closed at the server.
        for _ in 0..<8 { try await speak(isQuiet: true) }
        for action in try await journal.serverActions(server: "office")
        where action.state != .open {
            throw Broken("the word about \(action.action) is still here")
        }
        await journal.close()
    }

    // MARK: The operator

    private func operate() {
        let actions = server.with { $0.actions }
        let vehicle = Int(chance.below(2))
        let controller = "bike-tag-\(vehicle + 1)"
        let open = actions.filter { $0.controller == controller && $0.status.isActive }
        switch chance.below(8) {
        case 0...3: assign(controller, open)
        case 4, 5:
            guard let action = open.first else { return }
            server.change(action.id) { $0.status = .canceling }
        case 6:
            guard let action = open.first else { return }
            if draw(50) {
                server.with { $0.actions.removeAll { $0.id == action.id } }
            } else {
                server.change(action.id) { $0.status = .canceled }
            }
        default:
            guard let action = open.first else { return }
            server.change(action.id) {
                $0.window = $0.window == "unavailable" ? "available" : "unavailable"
            }
        }
    }

    private func assign(_ controller: String, _ open: [FakeServer.Action]) {
        let major = 2 + Int(chance.below(2))
        var action = FakeServer.Action(
            id: "\(assigned.count + 1)",
            controller: controller,
            version: "\(major).0.0",
            file: "tracker-\(major).img"
        )
        if draw(20) { action.status = .waiting }
        if draw(10) { action.update = "skip" }
        let isMany = draw(25)
        // A new assignment ends the one before, as hawkBit does without multi-assignment; with it, it waits.
        if !isMany { for old in open { server.change(old.id) { $0.status = .canceling } } }
        assigned[action.id] = runs
        server.assign(action)
    }

    // MARK: `sync`

    /// One `sync`, which may end anywhere; what it changed at the server is judged.
    private func speak(isQuiet: Bool = false) async throws {
        let before = server.with { $0.actions }
        let trouble = isQuiet ? 9 : chance.below(10)
        let count = server.with { $0.count }
        switch trouble {
        case 0: server.with { $0.isDown = true }
        case 1: server.with { $0.lost = [count + 1 + Int(chance.below(8))] }
        case 2, 3: try await journal.cut(after: Int(chance.below(14)))
        default: break
        }
        var isWhole = trouble > 3
        do throws(JournalError) {
            let errand = try await ServerErrand(
                to: ground.settings,
                for: ground.plan,
                journal: journal,
                over: server,
                into: ground.fetcher,
                state: ground.scratch.path,
                host: "gateway-1",
                time: StillTime()
            )
            let rows = try await errand.run { false }
            isWhole = isWhole && rows.allSatisfy(\.isFinished)
            let work = try await errand.work()
            // A run keeps the plan that it was begun with.
            if !isRunning { plan = tasks(work) }
        } catch {
            guard trouble == 2 || trouble == 3 else { throw error }
        }
        try await journal.cut(after: nil)
        server.with { ($0.isDown, $0.lost) = (false, []) }
        try await judge(before, isWhole: isWhole)
    }

    private func tasks(_ work: [(action: ServerAction, image: SHA256Digest)]) -> [Task] {
        work.compactMap { action, image in
            guard let version = action.version,
                let vehicle = ground.plan.vehicles.firstIndex(where: { $0.serial == action.serial })
            else { return nil }
            return Task(vehicle: vehicle, action: action.action, image: image, version: version)
        }
    }

    private func judge(_ before: [FakeServer.Action], isWhole: Bool) async throws {
        for old in before {
            guard let new = server.action(old.id) else { continue }
            guard new.closings <= 1 else {
                throw Broken("\(new.id) is closed \(new.closings) times")
            }
            guard new.status != old.status else { continue }
            let vehicle = new.controller == "bike-tag-1" ? 0 : 1
            let hasDebt = try await journal.debt(of: ground.plan.vehicles[vehicle].serial) != nil
            switch new.status {
            case .finished where new.update == "skip" && new.closings == 0: break
            case .finished, .error:
                let isGood = new.status == .finished
                // A failure stays one of its action, though another action may have brought the image since.
                let known = isGood ? proofs[vehicle].map { [$0] } ?? [] : failures[vehicle]
                let isShown = known.contains { shown in
                    ["\(shown.version)", "\(shown.version).0"].contains(new.version)
                        && shown.run > (assigned[new.id] ?? .max)
                        && (!isGood || versions[vehicle] == shown.version)
                }
                guard isShown, !hasDebt else {
                    throw Broken("\(new.id) is \(new.status), which no run has shown")
                }
            case .canceled:
                guard !hasDebt else { throw Broken("\(new.id) is cancelled in the middle") }
            case .running, .waiting, .canceling: break
            }
            if !new.status.isActive { ended.insert(new.id) }
        }
        guard isWhole else { return }
        let actions = server.with { $0.actions }
        for id in assigned.keys
        where !actions.contains(where: { $0.id == id && $0.status.isActive }) {
            ended.insert(id)
        }
        for action in actions where action.status == .running && action.update != "skip" {
            let vehicle = action.controller == "bike-tag-1" ? 0 : 1
            if let proof = proofs[vehicle], let since = seen[action.id], proof.run > since,
                proof.run <= over, !isRunning,
                "\(proof.version).0" == action.version || "\(proof.version)" == action.version,
                versions[vehicle] == proof.version,
                actions.first(where: { $0.controller == action.controller && $0.status.isActive })?
                    .id == action.id,
                try await journal.debt(of: ground.plan.vehicles[vehicle].serial) == nil
            {
                throw Broken("\(action.id) is proven, and the server does not show it")
            }
            let first = actions.first {
                $0.controller == action.controller && $0.status.isActive
            }
            // What it only answered a cancel of was not taken yet.
            let isTaken = action.words.contains { !$0.hasPrefix("cancel") }
            if first?.id == action.id, isTaken, seen[action.id] == nil { seen[action.id] = runs }
        }
    }

    // MARK: The run

    /// Something that happens while a run is at work.
    private func interlude() async throws {
        if draw(10) { operate() }
        if draw(15) { try await speak() }
    }

    private func run() async throws {
        guard !plan.isEmpty else { return }
        let number = try await journal.beginRun(
            rollout: Self.rollout,
            plan: SHA256.digest(of: []),
            at: StillTime().wallTime
        )
        (runs, over) = (number, number - 1)
        isRunning = true
        defer { isRunning = false }
        for task in plan {
            try await interlude()
            guard try await work(on: task, in: number) else { return }
        }
        try await journal.endRun(number, exitCode: 0, reason: "done", at: StillTime().wallTime)
        over = number
    }

    /// Works on one vehicle; false when the process was killed.
    private func work(on task: Task, in run: Int) async throws -> Bool {
        let at = StillTime().wallTime
        let vehicle = ground.plan.vehicles[task.vehicle]
        let fresh = ExecutionRecord(
            rollout: isDeaf ? "other" : Self.rollout,
            vehicle: vehicle.id,
            serial: vehicle.serial,
            run: run,
            started: at
        )
        guard var record = try await journal.begin(Beginning(nil, fresh: [fresh])).first else {
            throw Broken("nothing was begun")
        }
        func end(
            _ outcome: Outcome,
            _ failure: FailureClass? = nil,
            paying payment: Payment? = nil
        ) async throws {
            record.state = .ended
            if outcome == .succeeded || outcome == .alreadyCurrent {
                record.versionAfter = versions[task.vehicle]
            }
            record.end = .init(outcome, failure: failure, message: "as it was", at: at)
            try await journal.record(record, durably: true, paying: payment)
        }
        if draw(15) {
            try await end(.unreachable)
            return true
        }
        var debt = try await journal.debt(of: vehicle.serial)
        if debt == nil, versions[task.vehicle] == task.version {
            try await end(.alreadyCurrent)
            proofs[task.vehicle] = (task.version, run)
            return true
        }
        if debt == nil {
            let opened = Debt(
                serial: vehicle.serial,
                image: task.image,
                name: "tracker",
                version: task.version,
                target: "secondary",
                total: 600,
                stage: "transferring",
                of: record,
                begun: at
            )
            let intent = Intent(
                of: record,
                step: StepKey(nil),
                place: 0,
                effect: .transfer,
                description: "update",
                image: task.image,
                begun: at
            )
            do throws(JournalError) { _ = try await journal.intend(intent, opening: opened) } catch
            {
                guard error.kind == .withdrawn else { throw error }
                try await end(.skipped)
                return true
            }
            try await judgeTransfer(task)
            debt = opened
        }
        guard let debt else { return true }
        record.image = debt.image
        try await interlude()
        if draw(10) { return false }
        let version = debt.version ?? task.version
        switch chance.below(10) {
        case 0, 1: try await end(.inDoubt, .inDoubt)
        case 2,
            3 where versions[task.vehicle] != version:
            let payment = Payment(of: debt, as: "back", at: at, isProof: false, telling: nil)
            try await end(.rolledBack, .rolledBack, paying: payment)
            failures[task.vehicle].append((version, run))
        default:
            versions[task.vehicle] = version
            if draw(10) { return false }
            let payment = Payment(of: debt, as: "confirmed", at: at, isProof: true, telling: nil)
            try await end(.succeeded, paying: payment)
            proofs[task.vehicle] = (version, run)
        }
        return true
    }

    private func judgeTransfer(_ task: Task) async throws {
        guard ended.contains(task.action) else { return }
        let others = try await journal.serverActions(server: "office").contains {
            $0.state == .open && $0.image == task.image && $0.action != task.action
                && $0.serial == ground.plan.vehicles[task.vehicle].serial
        }
        guard others else { throw Broken("a transfer for \(task.action) begins after its end") }
    }
}
