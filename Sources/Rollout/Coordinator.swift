package import Base
package import Store

/// Decides which execution may touch a module.
///
/// On one machine, the journal decides. Several gateways need one common place, where a right has
/// an end and its epoch fences off earlier holders.
package protocol Coordinator: Sendable {
    /// Claims the right; a holder that claims again gets the same one.
    ///
    /// Under a hold only owed work may be done (`paying`). When the right is not available yet,
    /// waits until it is, or until `stop` is requested. `nearness` is a hint for the choice between
    /// machines.
    func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        nearness: Nearness?,
        at time: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim

    /// Gives the right back, with the verdict if there is one; does nothing when it is no longer
    /// held.
    func release(_ lease: Lease, with verdict: Verdict?) async throws(JournalError)

    /// The right as the journal has it, when only the journal keeps it: then it is given back in the
    /// transaction of the verdict, and `release` is not called. Nil for a right that others keep, too.
    func record(of lease: Lease) -> LeaseRecord?

    /// The fence for the right to a module; nil when rights have no end.
    ///
    /// Each execution has one, from before it claims.
    func fence(of serial: Serial) -> LeaseFence?

    /// Renews the rights until it is cancelled; nil when there is nothing to do.
    var upkeep: (@Sendable () async -> Void)? { get }

    /// Whether other machines may use the same modules: then acts are reported to them.
    var isShared: Bool { get }

    /// Announces an act on a module to all who may use it next, and returns whether it is allowed;
    /// waits for that at most until `stop` is requested.
    ///
    /// An act that is `paying` is owed. A transfer that is owed goes on even when people want the vehicle left alone.
    func permit(
        _ act: Act,
        on serial: Serial,
        paying: Bool,
        unless stop: StopSignal
    ) async throws(JournalError) -> Permit

    /// The report of something that was done under the right to a module; nil when there is no one
    /// to report to.
    ///
    /// It is written to the journal together with its act.
    func word(of deed: Deed, on serial: Serial) -> FleetWord?

    /// Sends the reports in the journal, as far as they are accepted now.
    func tell() async throws(JournalError)

    /// Applies here the hold that people have set for the rollout on any machine, and asks for the next look whether
    /// others work on these vehicles, and how many they work on.
    func follow(waitingFor vehicles: [VehicleID], counts: Bool) async throws(JournalError)

    /// The active wave, when several machines go through the waves together; nil when this machine
    /// is alone.
    var wave: Int? { get }

    /// The acts of other machines since the last look, as far as they can be known now.
    func look() async throws(JournalError) -> SharedNews?

    /// The next look is not put off; with `atAll` it shows again all that others have ended, because this journal has
    /// changed.
    func looksAgain(atAll: Bool)

    /// Reports how well this machine hears vehicles, in dBm.
    func hears(_ signals: [VehicleID: Int]) async

    /// Reports that an attempt on a vehicle failed on the radio, or that the vehicle is not heard any more; returns the
    /// machine that tries next, nil for this one.
    func failed(
        on serial: Serial,
        of vehicle: VehicleID,
        signal: Int?,
        isLost: Bool
    ) async -> String?

    /// Leaves vehicles to the other machines: each ends once all machines have left it.
    func leave(_ left: [LeftVehicle]) async

    /// Which vehicles nothing may be begun on: those that are inhibited or in quarantine.
    func leftAlone(
        _ releases: [VehicleID: SHA256Digest],
        quarantineAfter limit: Int?,
        at time: WallTime
    ) async throws(JournalError) -> LeftAlone

    /// Why this machine does not wait for the others any longer; nil while it does.
    var silence: String? { get }

    /// Reports vehicles that an abort of the rollout has left without a verdict.
    func abort(_ vehicles: [VehicleID], _ why: String) async

    /// Reports that this machine begins nothing more, or nothing before its window opens: the others
    /// do not wait for it.
    func stepAside(forGood: Bool) async

    /// The window of this machine has opened; it takes part again.
    func comeBack() async
}

extension Coordinator {
    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        at time: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        try await claim(
            serial,
            for: vehicle,
            paying: paying,
            nearness: nil,
            at: time,
            unless: stop
        )
    }

    package var isShared: Bool { false }

    package func record(of lease: Lease) -> LeaseRecord? { nil }

    package func permit(
        _ act: Act,
        on serial: Serial,
        paying: Bool,
        unless stop: StopSignal
    ) async throws(JournalError) -> Permit { .granted }

    package func word(of deed: Deed, on serial: Serial) -> FleetWord? { nil }
    package func tell() async throws(JournalError) {}
    package func follow(
        waitingFor vehicles: [VehicleID],
        counts: Bool
    ) async throws(JournalError) {}
    package func looksAgain(atAll: Bool) {}
    package var wave: Int? { nil }
    package func look() async throws(JournalError) -> SharedNews? { nil }
    package func hears(_ signals: [VehicleID: Int]) async {}
    package func failed(
        on serial: Serial,
        of vehicle: VehicleID,
        signal: Int?,
        isLost: Bool
    ) async -> String? { nil }
    package func leave(_ left: [LeftVehicle]) async {}
    package var silence: String? { nil }
    package func abort(_ vehicles: [VehicleID], _ why: String) async {}
    package func stepAside(forGood: Bool) async {}
    package func comeBack() async {}
    package func fence(of serial: Serial) -> LeaseFence? { nil }
    package var upkeep: (@Sendable () async -> Void)? { nil }
}

/// How well this machine hears a vehicle that it asks for.
package struct Nearness: Sendable, Equatable {
    /// The signal, in dBm.
    package let signal: Int
    /// Whether this machine has other vehicles to begin that no machine is known to hear better.
    package let hasOthers: Bool

    package init(signal: Int, hasOthers: Bool) {
        (self.signal, self.hasOthers) = (signal, hasOthers)
    }
}

/// The changes of a rollout that several machines work on.
package struct SharedNews: Sendable, Equatable {
    /// The last wave that was let in.
    package let wave: Int
    package let ended: [FleetEnd]
    /// Vehicles that were queued again.
    package let opened: [VehicleID]
    /// Those of the vehicles that were asked about that other machines work on now.
    package let busy: [VehicleID]
    /// How many vehicles they work on; nil when that was not asked.
    package let underWay: Int?
    /// Vehicles that other machines leave to this one.
    package let favoured: [VehicleID]
    /// Why this machine is to begin nothing more; nil when it may.
    package let drain: String?

    package init(
        wave: Int,
        ended: [FleetEnd],
        opened: [VehicleID],
        busy: [VehicleID] = [],
        underWay: Int? = nil,
        favoured: [VehicleID] = [],
        drain: String? = nil
    ) {
        self.favoured = favoured
        (self.busy, self.underWay) = (busy, underWay)
        self.wave = wave
        self.ended = ended
        self.opened = opened
        self.drain = drain
    }
}

/// Vehicles that nothing may be begun on.
package struct LeftAlone: Sendable {
    package var inhibits: [Inhibit] = []
    /// Vehicles that have failed too often on their release: how often, and the last failure's message.
    package var quarantined: [VehicleID: (count: Int, message: String)] = [:]
    /// Images of which no transfer begins.
    package var recalls: [Recall] = []

    package init() {}
}

/// Whether an act may be done.
package enum Permit: Sendable, Equatable {
    case granted
    /// Another gateway has done it.
    case done(by: String)
    /// Another gateway began it, and its result is unknown.
    case doubt(by: String)
    case inhibited(Inhibit)
    /// The image of the transfer is recalled.
    case recalled(Recall)
    /// The update server has withdrawn the action that the transfer is for.
    case withdrawn(String)
    /// Not in this visit; the reason is for people.
    case later(String)
    /// The right is over, or there is no answer and it is time to end.
    case ended
}

/// Something that was done on a module.
package enum Deed: Sendable {
    /// A step was settled with this outcome.
    case settled(Intent, String)
    /// Its module was seen settled, and with that its update is proven, or not.
    case paid(Debt, isProof: Bool)
    /// A step of `always` was done.
    case did(OwedStep)
    /// The verdict; `release` is the release that was worked on.
    case ended(VehicleID, Verdict, touched: Bool, release: SHA256Digest?)
}

/// The answer to a claim of the right to touch a module.
package enum Claim: Sendable, Equatable {
    case granted(Lease)
    /// Another execution has it; the text names it for people.
    case held(by: String)
    /// The rollout is paused or aborted.
    case stopped(Hold)
    /// The vehicle must be left alone.
    case inhibited(Inhibit)
    /// It has failed too often on the same release.
    case quarantined(String)
    /// Not now; it is tried again.
    case later(Waiting)
    /// Another machine has given it its verdict.
    case settled(FleetEnd)
    /// There was no decision, or nobody may have it now; the text explains this for people.
    case unknown(String)
}

/// The right to touch one module.
package struct Lease: Sendable, Equatable {
    package let serial: Serial
    /// Increases with each grant: acts under an older one no longer count.
    package let epoch: Int
    package let vehicle: VehicleID
    /// Attempts that have failed on the radio so far, on all machines.
    package let failures: Int

    package init(serial: Serial, epoch: Int, vehicle: VehicleID, failures: Int = 0) {
        self.failures = failures
        self.serial = serial
        self.epoch = epoch
        self.vehicle = vehicle
    }
}

/// The rights of one machine, kept in its journal.
package struct LocalCoordinator: Coordinator {
    private let journal: Journal
    private let rollout: String
    private let run: Int

    package init(journal: Journal, rollout: String, run: Int) {
        self.journal = journal
        self.rollout = rollout
        self.run = run
    }

    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        nearness: Nearness?,
        at time: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        let answer = try await journal.claim(
            serial,
            for: vehicle,
            of: rollout,
            run: run,
            paying: paying,
            at: time
        )
        switch answer {
        case .granted(let record):
            return .granted(Lease(serial: serial, epoch: record.epoch, vehicle: vehicle))
        case .held: return .held(by: "another vehicle of this run")
        case .stopped(let hold): return .stopped(hold)
        case .inhibited(let inhibit): return .inhibited(inhibit)
        }
    }

    package func leftAlone(
        _ releases: [VehicleID: SHA256Digest],
        quarantineAfter limit: Int?,
        at time: WallTime
    ) async throws(JournalError) -> LeftAlone {
        var left = LeftAlone()
        left.inhibits = try await journal.inhibits(at: time)
        left.recalls = try await journal.recalls()
        guard let limit else { return left }
        for count in try await journal.failures(atLeast: limit)
        where releases[count.vehicle] == count.release {
            left.quarantined[count.vehicle] = (count.count, count.message)
        }
        return left
    }

    package func release(_ lease: Lease, with verdict: Verdict?) async throws(JournalError) {
        try await journal.release(held(lease))
    }

    package func record(of lease: Lease) -> LeaseRecord? { held(lease) }

    private func held(_ lease: Lease) -> LeaseRecord {
        LeaseRecord(
            serial: lease.serial,
            epoch: lease.epoch,
            run: run,
            vehicle: lease.vehicle
        )
    }
}
