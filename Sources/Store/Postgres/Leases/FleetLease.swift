package import Base

/// The times for rights on modules: the same for every gateway of a fleet.
package struct LeaseTerms: Sendable, Equatable {
    /// The time from a grant or a renewal to the end of the right, by the server's clock.
    package let length: Duration
    /// How long before that end, by its own clock, the gateway stops its work: covers the drift
    /// between two clocks.
    package let margin: Duration
    /// How often rights are renewed.
    package let beat: Duration
    /// How long work may need to reach a safe point.
    ///
    /// Work is asked to stop at one when this much time is left without a renewal.
    package let reserve: Duration
    /// How long after its end a right that was not given back is granted to nobody.
    ///
    /// It covers the length, the drift of clocks, the longest act that is not interrupted, and the
    /// 32 seconds for which a module may keep a link whose other end is gone.
    package let takeoverWait: Duration

    package init(
        length: Duration,
        margin: Duration,
        beat: Duration,
        reserve: Duration,
        takeoverWait: Duration
    ) {
        precondition(margin + reserve + beat < length && beat > .zero)
        self.length = length
        self.margin = margin
        self.beat = beat
        self.reserve = reserve
        self.takeoverWait = takeoverWait
    }

    package static let standard = LeaseTerms(
        length: .seconds(60),
        margin: .seconds(1),
        beat: .seconds(15),
        reserve: .seconds(25),
        takeoverWait: .seconds(100)
    )
}

/// The right of one process of the program to touch one module.
package struct FleetLease: Sendable, Hashable {
    package let serial: Serial
    /// Increases with each grant, and never decreases.
    package let epoch: Int

    package init(serial: Serial, epoch: Int) {
        self.serial = serial
        self.epoch = epoch
    }
}

/// A request for the right to a module for one execution.
package struct LeaseWish: Sendable, Equatable {
    package let serial: Serial
    package let rollout: String
    package let vehicle: VehicleID
    /// The highest epoch of the module that this gateway has recorded, and its generation.
    package let known: Known?
    /// The work for which it is requested; nil for a right alone.
    package let entry: Entry?

    /// The facts for which the rollout or people may refuse it.
    package struct Entry: Sendable, Equatable {
        package let beginning: Int
        /// Whether only owed work is done.
        package let isPaying: Bool
        package let release: SHA256Digest?
        package let quarantineAfter: Int?
        /// Whether waves are ignored: the run has only some of the vehicles.
        package let isPartial: Bool
        /// How well the gateway hears the vehicle; nil when gateways are not compared.
        package let hearing: Hearing?

        package init(
            beginning: Int,
            isPaying: Bool,
            release: SHA256Digest? = nil,
            quarantineAfter: Int? = nil,
            isPartial: Bool = false,
            hearing: Hearing? = nil
        ) {
            self.hearing = hearing
            self.isPartial = isPartial
            self.beginning = beginning
            self.isPaying = isPaying
            self.release = release
            self.quarantineAfter = quarantineAfter
        }
    }

    /// How well the gateway hears the vehicle, for the choice between gateways.
    package struct Hearing: Sendable, Equatable {
        /// The signal, in dBm.
        package let signal: Int
        /// Whether the gateway has other vehicles to begin that no gateway is known to hear better.
        package let hasOthers: Bool

        package init(signal: Int, hasOthers: Bool) {
            (self.signal, self.hasOthers) = (signal, hasOthers)
        }
    }

    /// An epoch that a gateway remembers.
    package struct Known: Sendable, Equatable {
        package let epoch: Int
        package let generation: Int

        package init(epoch: Int, generation: Int) {
            self.epoch = epoch
            self.generation = generation
        }
    }

    package init(
        _ serial: Serial,
        rollout: String,
        vehicle: VehicleID,
        known: Known? = nil,
        entry: Entry? = nil
    ) {
        self.entry = entry
        self.serial = serial
        self.rollout = rollout
        self.vehicle = vehicle
        self.known = known
    }
}

/// The answer to a request for a right.
package enum FleetClaim: Sendable, Equatable {
    case granted(FleetLease, generation: Int)
    /// Another gateway, or another execution of this one, has it; the text names it for people.
    case held(by: String)
    /// Its last holder never gave it back; it is free after this time.
    case resting(Duration)
    /// The database may not grant rights now.
    case closed(EpochGuard)
    /// The rollout was begun again, or is unknown: this run's part in it is over.
    case replaced
    /// The fleet's plan of the rollout does not have this vehicle with this module.
    case unlisted
    /// Its wave has not begun.
    case early
    /// Another gateway hears it clearly better, and it is left to that one for this time.
    case nearer(String, Duration)
    /// This many vehicles are under way, and one more could fail after the gate has tripped.
    case full(underWay: Int)
    /// Vehicles such as this one owe updates that may have failed, and nobody works on them in this night.
    case owing(String)
    /// It has its verdict, from any gateway.
    case ended(FleetEnd)
    case stopped(Hold)
    case inhibited(Inhibit)
    /// It has failed this often on the same release; the text is the last failure's sentence.
    case quarantined(Int, String)
    /// The database has an older epoch than this gateway: it went back in time without a trace.
    case behind(known: Int, found: Int)
}
