package import Domain
package import Journal
package import Reports

/// Who says which execution may touch a module.
///
/// On one machine that is the journal. Several gateways need one place for all of them, where a
/// right has an end and its epoch fences off anyone who held it before.
package protocol Coordinator: Sendable {
    /// Asks for the right; asking again while it is held gives the same one.
    ///
    /// Under a hold only what is owed may be paid. Where it has to wait for somebody, it does so until
    /// `stop` is requested. `nearness` is a hint for the choice between machines.
    func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        nearness: Nearness?,
        at time: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim

    /// Gives it back, with how the work ended when it did; harmless when it is not held any more.
    func release(_ lease: Lease, with verdict: Verdict?) async throws(JournalError)

    /// The right as the journal has it, when only the journal keeps it: then it is given back in the
    /// transaction of the verdict, and `release` is not called. Nil for a right that others keep, too.
    func record(of lease: Lease) -> LeaseRecord?

    /// Watches over the right to a module; nil where a right has no end.
    ///
    /// There is one for each execution, from before it claims.
    func fence(of serial: Serial) -> LeaseFence?

    /// Keeps the rights alive, until it is cancelled; nil where nothing is to be done.
    var upkeep: (@Sendable () async -> Void)? { get }

    /// Whether other machines may come to the same modules: then they are told what is done.
    var isShared: Bool { get }

    /// Says what is about to be done on a module, to anyone who may come to it next, and whether it may
    /// be; where that has to be waited for, until `stop` is requested.
    ///
    /// What is `paying` is owed, and is done though people want the vehicle left alone.
    func permit(
        _ act: Act,
        on serial: Serial,
        paying: Bool,
        unless stop: StopSignal
    ) async throws(JournalError) -> Permit

    /// What is to be told of something that was done under the right to a module; nil when nobody is.
    ///
    /// It goes into the journal with what it tells of.
    func word(of deed: Deed, on serial: Serial) -> FleetWord?

    /// Tells what the journal has to tell, as far as it is taken now.
    func tell() async throws(JournalError)

    /// What people have set for the rollout on whichever machine is set here, too.
    func follow() async throws(JournalError)

    /// The wave that is on, where several machines go through them together; nil where one does alone.
    var wave: Int? { get }

    /// What other machines have done since the last look, as far as it can be known now.
    func look() async throws(JournalError) -> SharedNews?

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

    /// This machine begins nothing more, or nothing before its window opens; the others do not wait for it.
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
    package func follow() async throws(JournalError) {}
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
    /// In dBm.
    package let signal: Int
    /// Whether this machine has other vehicles to begin that no machine is known to hear better.
    package let hasOthers: Bool

    package init(signal: Int, hasOthers: Bool) {
        (self.signal, self.hasOthers) = (signal, hasOthers)
    }
}

/// Something that is about to be done on a module, and what it brings with it.
package struct Act: Sendable {
    package let intent: Intent
    /// What the module owes from then on.
    package var debt: Debt?
    package var owed: [OwedStep]

    package init(_ intent: Intent, opening debt: Debt? = nil, owing owed: [OwedStep] = []) {
        (self.intent, self.debt, self.owed) = (intent, debt, owed)
    }
}

/// How another machine ended a vehicle of the same rollout.
package struct SharedEnd: Sendable, Equatable {
    package let vehicle: VehicleID
    package let outcome: Outcome
    package let failure: FailureClass?
    package let sentence: String
    package let version: FirmwareVersion?
    /// Empty for what no machine in particular found.
    package let gateway: String

    package init(
        _ vehicle: VehicleID,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ sentence: String,
        version: FirmwareVersion?,
        by gateway: String
    ) {
        self.vehicle = vehicle
        self.outcome = outcome
        self.failure = failure
        self.sentence = sentence
        self.version = version
        self.gateway = gateway
    }
}

/// What became of a rollout that several machines work on.
package struct SharedNews: Sendable, Equatable {
    /// The last wave that was let in.
    package let wave: Int
    package let ended: [SharedEnd]
    /// Vehicles that were taken up again.
    package let opened: [VehicleID]
    /// Vehicles that other machines work on now.
    package let busy: [VehicleID]
    /// Vehicles that other machines leave to this one.
    package let favoured: [VehicleID]
    /// Whether somebody wants this machine to begin nothing more.
    package let mustDrain: Bool

    package init(
        wave: Int,
        ended: [SharedEnd],
        opened: [VehicleID],
        busy: [VehicleID] = [],
        favoured: [VehicleID] = [],
        mustDrain: Bool
    ) {
        self.favoured = favoured
        self.busy = busy
        self.wave = wave
        self.ended = ended
        self.opened = opened
        self.mustDrain = mustDrain
    }
}

/// A vehicle that one of several machines leaves to the others.
package struct LeftVehicle: Sendable, Equatable {
    package let vehicle: VehicleID
    /// The verdict of this machine; nil when it only did not hear the vehicle.
    package let outcome: Outcome?
    package let failure: FailureClass?
    package let sentence: String

    package init(
        _ vehicle: VehicleID,
        _ outcome: Outcome? = nil,
        _ failure: FailureClass? = nil,
        _ sentence: String = ""
    ) {
        (self.vehicle, self.outcome) = (vehicle, outcome)
        (self.failure, self.sentence) = (failure, sentence)
    }
}

/// Vehicles that nothing may be begun on.
package struct LeftAlone: Sendable {
    package var inhibits: [Inhibit] = []
    /// Vehicles that have failed too often on their release: how often, and the last failure's message.
    package var quarantined: [VehicleID: (count: Int, message: String)] = [:]

    package init() {}
}

/// Whether an act may be done.
package enum Permit: Sendable, Equatable {
    case granted
    /// Another gateway has done it.
    case done(by: String)
    /// Another gateway began it, and nobody knows how that ended.
    case doubt(by: String)
    case inhibited(Inhibit)
    /// The right is over, or nobody answers and it is time to end.
    case ended
}

/// Something that was done on a module.
package enum Deed: Sendable {
    /// A step was settled so.
    case settled(Intent, String)
    /// What was begun on it is proven.
    case paid(Debt)
    /// A step of `always` was done.
    case did(OwedStep)
    /// How the work ended; `release` is what it was for.
    case ended(VehicleID, Verdict, touched: Bool, release: SHA256Digest?)
}

/// The answer to asking for the right to touch a module.
package enum Claim: Sendable, Equatable {
    case granted(Lease)
    /// Somebody else has it; the text says who, for people.
    case held(by: String)
    /// The rollout is paused or aborted.
    case stopped(Hold)
    /// The vehicle is to be left alone.
    case inhibited(Inhibit)
    /// It has failed too often on what is to be done.
    case quarantined(String)
    /// Not now; it is tried again.
    case later(Waiting)
    /// Another machine has ended it.
    case settled(SharedEnd)
    /// Nobody could say, or nobody may have it now; the text says why, for people.
    case unknown(String)
}

/// The right to touch one module.
package struct Lease: Sendable, Equatable {
    package let serial: Serial
    /// Grows with each grant: what was done under an older one does not count any more.
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
