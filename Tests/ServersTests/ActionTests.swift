import Base
import Manifest
import Servers
import Site
import Store
import Testing
import Workbench

/// Actions of a server from their assignment to their end, with the journal in between.
@Suite struct ActionTests {
    private static let action = FakeServer.Action(id: "5", controller: "bike-tag-1")
    private static let version = FirmwareVersion(2, 0)

    @Test func `an action becomes work, is reported once, and closed when the module proved it`()
        async throws
    {
        try await withYard { yard in
            yard.server.assign(Self.action)
            let first = try await yard.sync()
            #expect(first.work.map(\.image) == [SHA256.digest(of: yard.image)])
            #expect(first.rows.map(\.isFinished) == [true, true])
            try await yard.sync()
            #expect(yard.server.action("5")?.words == ["proceeding none"])
            try await yard.run(.unreachable)
            try await yard.sync()
            // Nobody reached the vehicle: the action stays open, and says why.
            #expect(yard.server.action("5")?.status == .running)
            #expect(yard.server.action("5")?.words.count == 2)
            try await yard.run(.succeeded, version: Self.version)
            let last = try await yard.sync()
            #expect(yard.server.action("5")?.status == .finished)
            #expect(yard.server.action("5")?.closings == 1)
            #expect(last.work.isEmpty)
        }
    }

    @Test func `an action is for the module that is in the vehicle now`() async throws {
        let servers = serversText.replacing("bike-{serial}", with: "bike-{id}")
        try await withYard(servers) { yard in
            yard.server.assign(.init(id: "5", controller: "bike-EE-1"))
            let old = yard.plan.vehicles[0].serial
            #expect(try await yard.sync().work.map(\.action.serial) == [old])
            let text = manifestText.replacing("tag-1", with: "tag-9")
            let plan = try #require(try ServedYard.plan(text, at: "tallinn.yaml"))
            let work = try await yard.sync(of: plan).work
            #expect(work.map(\.action.serial) == [plan.vehicles[0].serial])
            #expect(work.first?.action.serial != old)
        }
    }

    @Test func `a success without the version is none`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.run(.succeeded, version: FirmwareVersion(1, 9))
            try await yard.sync()
            try await yard.run(.succeeded, version: nil)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
        }
    }

    @Test func `a proof stays one over nights that did nothing to the module`() async throws {
        for outcome in [Outcome.unreachable, .deferred, .skipped, .aborted] {
            try await withYard { yard in
                yard.server.assign(Self.action)
                try await yard.sync()
                try await yard.run(.succeeded, version: Self.version)
                try await yard.run(outcome)
                try await yard.run(outcome)
                try await yard.sync()
                #expect(yard.server.action("5")?.status == .finished)
            }
        }
    }

    @Test func `a proof from before another image was begun is none`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.run(.succeeded, version: Self.version)
            try await yard.run(.aborted, of: SHA256.digest(of: [1]))
            try await yard.run(.unreachable)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
        }
    }

    @Test func `an action that was ended at the server ends here, though another one follows`()
        async throws
    {
        try await withYard { yard in
            yard.server.with { $0.files["other.img"] = yard.image + [0] }
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.change("5") { $0.status = .canceled }
            yard.server.assign(.init(id: "6", controller: "bike-tag-1", status: .waiting))
            let waits = try await yard.sync()
            #expect(waits.work.isEmpty)
            #expect(waits.rows[0].told == ["action 5 is over at the server"])
            #expect(waits.rows[0].actions.isEmpty)
            // A server that fails to say so has said nothing.
            yard.server.change("6") { $0.status = .running }
            try await yard.sync()
            yard.server.assign(.init(id: "7", controller: "bike-tag-1"))
            yard.server.change("6") { $0.status = .canceled }
            yard.server.with { $0.lost = [$0.count + 2] }
            let lost = try await yard.sync()
            #expect(!lost.rows[0].isFinished)
            #expect(lost.work.map(\.action.action) == ["6"])
        }
    }

    @Test func `an action that has begun is not forgotten`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.transfer()
            yard.server.change("5") { $0.status = .canceled }
            yard.server.assign(.init(id: "6", controller: "bike-tag-1", status: .waiting))
            try await yard.sync()
            let known = try await yard.journal.serverActions(server: "office")
            #expect(known.map(\.action) == ["5"])
        }
    }

    @Test func `a run from before the action says nothing about it`() async throws {
        try await withYard { yard in
            try await yard.run(.succeeded, version: Self.version)
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
        }
    }

    @Test(arguments: [
        (Outcome.rolledBack, FailureClass?.some(.rolledBack), true),
        (.failed, .wrongVersion, true), (.rejected, .rejected, true), (.failed, .integrity, true),
        (.failed, .transient, false), (.failed, .device, false), (.timedOut, nil, false),
        (.inDoubt, .inDoubt, false), (.deferred, nil, false), (.aborted, nil, false),
    ])
    func `only a failure for good closes an action as one`(
        outcome: Outcome,
        failure: FailureClass?,
        isFinal: Bool
    ) async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.run(outcome, failure)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == (isFinal ? .error : .running))
            #expect(yard.server.action("5")?.closings == (isFinal ? 1 : 0))
        }
    }

    @Test func `a vehicle in quarantine has failed for good`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            for _ in 0..<2 {
                _ = try await yard.journal.countFailure(
                    yard.plan.vehicles[0].id,
                    release: SHA256.digest(of: yard.image),
                    message: "no answer",
                    at: yard.at
                )
            }
            try await yard.run(.failed, .device)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .error)
        }
    }

    @Test func `a failure of another image leaves an action open`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            // A run goes on with the plan of an earlier evening.
            try await yard.run(.rolledBack, .rolledBack, of: SHA256.digest(of: [1]))
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
            try await yard.run(.rolledBack, .rolledBack, of: SHA256.digest(of: yard.image))
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .error)
        }
    }

    @Test func `a module that owes an update has not failed for good`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.transfer()
            try await yard.run(.rolledBack, .rolledBack)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
        }
    }

    @Test func `a server hears in tenths how far a transfer is, and nothing twice`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            var (record, debt) = try await yard.transfer()
            record.state = .transferring
            var heard: [Int] = []
            for percent in [0, 5, 41, 43, 99] {
                debt.acknowledged = debt.total * percent / 100
                try await yard.journal.record(record, durably: true, debt: debt)
                try await yard.sync()
                heard.append(yard.server.action("5")?.words.count ?? 0)
            }
            #expect(heard == [2, 2, 3, 3, 4])
            let details = try await yard.journal.serverActions(server: "office").first?.details
            #expect(details?.hasSuffix("the module has 90 % of it") == true, "\(details ?? "")")
        }
    }

    @Test func `of two actions of a vehicle the older one is done first, then the other`()
        async throws
    {
        try await withYard { yard in
            yard.server.with { $0.files["other.img"] = yard.image + [0] }
            yard.server.assign(Self.action)
            yard.server.assign(.init(id: "6", controller: "bike-tag-1"))
            #expect(try await yard.sync().work.map(\.action.action) == ["5"])
            try await yard.run(.succeeded, version: Self.version)
            #expect(try await yard.sync().work.isEmpty)
            #expect(yard.server.action("5")?.status == .finished)
            #expect(try await yard.sync().work.map(\.action.action) == ["6"])
            // What proved the first one proves nothing of the second one.
            #expect(yard.server.action("6")?.status == .running)
            try await yard.run(.alreadyCurrent, version: Self.version)
            try await yard.sync()
            #expect(yard.server.action("6")?.status == .finished)
            #expect(["5", "6"].map { yard.server.action($0)?.closings } == [1, 1])
        }
    }

    @Test func `one download serves all vehicles and later actions`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            yard.server.assign(.init(id: "6", controller: "bike-tag-2"))
            let first = try await yard.sync()
            #expect(first.work.count == 2)
            yard.server.change("5") { $0.status = .canceled }
            yard.server.assign(.init(id: "7", controller: "bike-tag-1"))
            try await yard.sync()
            #expect(yard.server.with { $0.fetches.count } == 1)
        }
    }

    // MARK: Cancelling

    @Test func `a cancel before the transfer is accepted, and nothing is sent afterwards`()
        async throws
    {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.change("5") { $0.status = .canceling }
            let after = try await yard.sync()
            #expect(yard.server.action("5")?.status == .canceled)
            #expect(after.work.isEmpty)
            // A run with the plan of before must not begin it.
            let error = await #expect(throws: JournalError.self) { try await yard.transfer() }
            #expect(error?.kind == .withdrawn)
            #expect(try await yard.journal.debts().isEmpty)
        }
    }

    @Test func `a cancel of what has begun is refused until the module is at rest`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.transfer()
            yard.server.change("5") { $0.status = .canceling }
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .running)
            #expect(yard.server.action("5")?.words.last == "cancel rejected none")
        }
    }

    @Test func `a cancel of an action that was never taken is accepted`() async throws {
        try await withYard { yard in
            yard.server.assign(.init(id: "9", controller: "bike-tag-1", status: .canceling))
            try await yard.sync()
            #expect(yard.server.action("9")?.status == .canceled)
        }
    }

    @Test
    func `a cancel of an action that was never taken is refused while the module owes another`()
        async throws
    {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.transfer()
            yard.server.with { $0.actions = [] }
            try await yard.sync()
            yard.server.assign(.init(id: "9", controller: "bike-tag-1", status: .canceling))
            try await yard.sync()
            #expect(yard.server.action("9")?.words.first == "cancel rejected none")
            #expect(yard.server.action("9")?.status == .running)
        }
    }

    @Test func `a cancel that comes after the proof is answered with the proof`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            try await yard.run(.alreadyCurrent, version: Self.version)
            yard.server.change("5") { $0.status = .canceling }
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .finished)
            #expect(yard.server.action("5")?.closings == 1)
        }
    }

    // MARK: Losses

    @Test func `each action is closed once over kills at any write`() async throws {
        for outcome in [Outcome.succeeded, .rolledBack] {
            for transactions in 0..<14 {
                try await withYard { yard in
                    yard.server.assign(Self.action)
                    yard.server.assign(.init(id: "6", controller: "bike-tag-2"))
                    try await self.killed(yard, after: transactions)
                    try await yard.sync()
                    try await yard.run(outcome, on: 0, version: Self.version)
                    try await yard.run(outcome, on: 1, version: Self.version)
                    try await self.killed(yard, after: transactions)
                    try await yard.sync()
                    try await yard.sync()
                    for id in ["5", "6"] {
                        let action = try #require(yard.server.action(id))
                        #expect(action.closings == 1, "\(id) after \(transactions)")
                        #expect(action.status == (outcome == .succeeded ? .finished : .error))
                    }
                    let left = try await yard.journal.serverActions(server: "office")
                    #expect(left.isEmpty, "after \(transactions)")
                }
            }
        }
    }

    /// A `sync` whose process ends after so many writes.
    private func killed(_ yard: ServedYard, after transactions: Int) async throws {
        try await yard.journal.cut(after: transactions)
        do { try await yard.sync() } catch is JournalError {}
        try await yard.journal.cut(after: nil)
    }

    @Test func `each action is closed once over lost answers`() async throws {
        for number in 1..<12 {
            try await withYard { yard in
                yard.server.assign(Self.action)
                try await yard.sync()
                try await yard.run(.succeeded, version: Self.version)
                let count = yard.server.with { $0.count }
                yard.server.with { $0.lost = [count + number] }
                try await yard.sync()
                try await yard.sync()
                #expect(yard.server.action("5")?.closings == 1, "\(number)")
                #expect(try await yard.journal.serverActions(server: "office").isEmpty)
            }
        }
    }

    @Test func `an action that was deleted at the server ends here`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.with { $0.actions = [] }
            let after = try await yard.sync()
            #expect(after.work.isEmpty)
            #expect(try await yard.journal.serverActions(server: "office").isEmpty)
        }
    }

    @Test func `a server that is down is not asked about each vehicle, and nothing is lost`()
        async throws
    {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.with { $0.isDown = true }
            let down = try await yard.sync()
            #expect(down.rows.allSatisfy { !$0.isFinished })
            // What was taken stays work: the server has said nothing else.
            #expect(down.work.count == 1)
        }
    }

    // MARK: What is not done now

    @Test func `outside the server's window an action is no work, and inside it is`() async throws {
        try await withYard { yard in
            var action = Self.action
            (action.window, action.update) = ("unavailable", "skip")
            yard.server.assign(action)
            let work1 = try await yard.sync().work
            #expect(work1.isEmpty)
            yard.server.change("5") { ($0.window, $0.update) = ("available", "forced") }
            let work2 = try await yard.sync().work
            #expect(work2.count == 1)
        }
    }

    @Test func `an action that is only to be downloaded ends when the image is here`()
        async throws
    {
        try await withYard { yard in
            var action = Self.action
            action.update = "skip"
            yard.server.assign(action)
            let work3 = try await yard.sync().work
            #expect(work3.isEmpty)
            try await yard.sync()
            #expect(yard.server.action("5")?.status == .finished)
            #expect(yard.server.with { $0.fetches.count } == 1)
        }
    }

    @Test func `an action that waits for a confirmation is named, and not begun`() async throws {
        try await withYard { yard in
            yard.server.assign(.init(id: "5", controller: "bike-tag-1", status: .waiting))
            let sync = try await yard.sync()
            #expect(sync.work.isEmpty)
            #expect(sync.rows[0].ending == .unconfirmed(try #require(ActionID("5"))))
        }
    }

    private static let confirming = serversText.replacing(
        "controller:",
        with: "confirm: night\n    controller:"
    )

    @Test func `an action that waits is confirmed when the night takes it, if that is set`()
        async throws
    {
        try await withYard(Self.confirming) { yard in
            yard.server.assign(.init(id: "5", controller: "bike-tag-1", status: .waiting))
            let sync = try await yard.sync()
            #expect(sync.work.count == 1 && sync.rows[0].isFinished)
            #expect(yard.server.action("5")?.words == ["confirmed", "proceeding none"])
            try await yard.run(.succeeded, version: Self.version)
            try await yard.sync()
            #expect(yard.server.action("5")?.closings == 1)
            #expect(yard.server.with { $0.fetches.count } == 1)
        }
    }

    @Test
    func `an action that would be refused, or is not for now, is neither confirmed nor denied`()
        async throws
    {
        let strict = Self.confirming.replacing(", trust: transport", with: "")
        for (text, window) in [(strict, String?.none), (Self.confirming, "unavailable")] {
            try await withYard(text) { yard in
                var action = FakeServer.Action(id: "5", controller: "bike-tag-1", status: .waiting)
                action.window = window
                yard.server.assign(action)
                let sync = try await yard.sync()
                #expect(sync.rows[0].ending == .unconfirmed(try #require(ActionID("5"))))
                #expect(sync.rows[0].told.count == (window == nil ? 1 : 0))
                #expect(yard.server.action("5")?.words.isEmpty == true)
            }
        }
    }

    @Test func `an action that changes under its id is taken as it is now`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.change("5") { $0.version = "2.0.1" }
            let changed = try await yard.sync()
            // The file is still of version 2.0.0, which is not what is promised now.
            #expect(changed.work.isEmpty)
            #expect(yard.server.action("5")?.words.last == "rejected none")
        }
    }

    @Test func `what was taken before is measured by the rules of now, and is here`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            // The store is cleared: the file is fetched once more, though nothing has changed there.
            _ = try run("rm", "-r", yard.scratch.path + "/images")
            #expect(try await yard.sync().work.count == 1)
            #expect(yard.server.with { $0.fetches.count } == 2)
            // The unsigned image was trusted for its server's sake, which is over.
            let strict = serversText.replacing(", trust: transport", with: "")
            let settings = try #require(
                ServersReader.read(strict.bytes, path: "servers.yaml").servers?.first
            )
            #expect(try await yard.sync(settings).work.isEmpty)
            #expect(yard.server.action("5")?.words.last == "rejected none")
            #expect(try await yard.sync().work.count == 1)
        }
    }

    @Test func `an action that the server takes up again is to be done again`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            try await yard.sync()
            yard.server.change("5") { $0.status = .finished }
            yard.server.assign(.init(id: "6", controller: "bike-tag-1"))
            yard.server.with { state in
                // Number 5 is there still, but the server offers 6 first.
                state.actions.swapAt(0, 1)
                state.actions[1].status = .running
            }
            #expect(try await yard.sync().work.map(\.action.action) == ["6"])
            yard.server.with { $0.actions.swapAt(0, 1) }
            #expect(try await yard.sync().work.map(\.action.action) == ["5"])
        }
    }

    @Test func `vehicles that the server refuses do not keep it from the others`() async throws {
        let rows = (3...5).map {
            "  - {id: EE-\($0), serial: tag-\($0), family: mcumgr, depot: north}"
        }
        let text = manifestText.replacing(
            "steps:",
            with: rows.joined(separator: "\n") + "\nsteps:"
        )
        try await withYard { yard in
            let plan = try #require(try ServedYard.plan(text, at: "tallinn.yaml"))
            yard.server.with { $0.forbidden = ["bike-tag-1", "bike-tag-2", "bike-tag-3"] }
            let rows = try await yard.sync(of: plan).rows
            #expect(rows.map(\.isFinished) == [false, false, false, true, true])
            // A server that is not there is not asked about all of them.
            yard.server.with { $0.isDown = true }
            let down = try await yard.sync(of: plan).rows
            #expect(down.map { $0.ending == nil } == [false, false, false, true, true])
        }
    }

    // MARK: Trust

    @Test func `an image that nobody signed is refused, and said so once`() async throws {
        let strict = serversText.replacing(", trust: transport", with: "")
        try await withYard(strict) { yard in
            yard.server.assign(Self.action)
            let sync = try await yard.sync()
            #expect(sync.work.isEmpty)
            try await yard.sync()
            #expect(yard.server.action("5")?.words == ["rejected none"])
            #expect(yard.server.action("5")?.status == .running)
        }
    }

    @Test func `a file that is not what the server says is refused`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            let other = yard.image.map { $0 ^ 1 }
            yard.server.with { $0.swapped["tracker.img"] = other }
            let sync = try await yard.sync()
            #expect(sync.work.isEmpty)
            #expect(yard.server.action("5")?.words == ["rejected none"])
        }
    }

    @Test func `a file at another host is refused`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            yard.server.with { $0.fileHost = "evil.example" }
            let sync = try await yard.sync()
            #expect(sync.work.isEmpty && sync.rows[0].isFinished)
            #expect(yard.server.with { $0.fetches.isEmpty })
            #expect(yard.server.action("5")?.words == ["rejected none"])
        }
    }

    @Test func `a file at a host that is allowed comes without the token`() async throws {
        let more = serversText.replacing(
            "controller:",
            with: "hosts: [cdn.example]\n    controller:"
        )
        try await withYard(more) { yard in
            yard.server.assign(Self.action)
            yard.server.with { $0.fileHost = "cdn.example" }
            let work = try await yard.sync().work
            #expect(work.count == 1)
            #expect(yard.server.with { $0.fetches.map(\.hadToken) } == [false])
        }
    }

    @Test func `a server that is another one than it was is not obeyed`() async throws {
        try await withYard { yard in
            yard.server.assign(Self.action)
            yard.server.with { $0.host = "evil.example" }
            let sync = try await yard.sync()
            #expect(sync.rows[0].isFinished == false && sync.work.isEmpty)
            #expect(yard.server.with { $0.fetches.isEmpty })
        }
    }

    // MARK: Attributes

    @Test func `a server that asks gets what is known, and no empty templates`() async throws {
        try await withYard { yard in
            yard.server.with { $0.wanting = ["bike-tag-1"] }
            try await yard.sync()
            let before = yard.server.with { $0.attributes["bike-tag-1"] }
            #expect(before?["family"] == "mcumgr" && before?["place"] == "north")
            #expect(before?["gateway"] == "gateway-1" && before?["sw_version"] == nil)
            try await yard.run(.succeeded, version: Self.version)
            yard.server.with { $0.wanting = ["bike-tag-1"] }
            try await yard.sync()
            let after = yard.server.with { $0.attributes["bike-tag-1"] }
            #expect(after?["sw_version"] == "2.0.0" && after?["version"] == "2.0.0")
        }
    }
}

extension SyncRow {
    var isFinished: Bool {
        switch ending {
        case .done, .unconfirmed, .unknown: true
        case .failed, nil: false
        }
    }
}
