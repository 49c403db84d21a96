package import Domain

/// The times that rights on modules go by: the same for every gateway of a fleet.
package struct LeaseTerms: Sendable, Equatable {
    /// From a grant or a renewal to its end, by the server's clock.
    package let length: Duration
    /// How long before that end the gateway lets go, by its own clock: what two clocks may drift apart.
    package let margin: Duration
    /// How often rights are renewed.
    package let beat: Duration
    /// What a safe point may take.
    ///
    /// Work is asked for one when so much is left without a renewal.
    package let reserve: Duration
    /// How long after its end a right that nobody gave back stays with nobody.
    ///
    /// The length, what clocks drift, the longest thing that is done in one go, and the 32 seconds for
    /// which a module may hold a link whose other end is gone.
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

/// The right of one start of the program to touch one module.
package struct FleetLease: Sendable, Hashable {
    package let serial: Serial
    /// Grows with each grant, and never goes back.
    package let epoch: Int

    package init(serial: Serial, epoch: Int) {
        self.serial = serial
        self.epoch = epoch
    }
}

/// What is asked for: the right to a module for one execution.
package struct LeaseWish: Sendable, Equatable {
    package let serial: Serial
    package let rollout: String
    package let vehicle: VehicleID
    /// The highest epoch of the module that this gateway has written down, and in which generation.
    package let known: Known?
    /// As whose work it is wanted; nil for a right alone.
    package let entry: Entry?

    /// What the rollout and people may have against it.
    package struct Entry: Sendable, Equatable {
        package let beginning: Int
        /// Only what is owed is done.
        package let isPaying: Bool
        package let release: SHA256Digest?
        package let quarantineAfter: Int?
        /// Whether the waves mean nothing: the run has only some of the vehicles.
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
        /// In dBm.
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

/// The answer to a wish.
package enum FleetClaim: Sendable, Equatable {
    case granted(FleetLease, generation: Int)
    /// Another gateway, or another execution of this one, has it; who, for people.
    case held(by: String)
    /// Its last holder never gave it back; it is free in so long.
    case resting(Duration)
    /// The database may not grant rights now.
    case closed(EpochGuard)
    /// The rollout was begun again, or is not known: this run's part in it is over.
    case replaced
    /// The plan that the fleet has of the rollout does not have this vehicle with this module.
    case unlisted
    /// Its wave has not begun.
    case early
    /// Another gateway hears it clearly better, and it is left to that one for this time.
    case nearer(String, Duration)
    /// So many are under way that one more could fail after the gate has tripped.
    case full(underWay: Int)
    /// It has its verdict, by whichever gateway.
    case ended(FleetEnd)
    case stopped(FleetHold)
    case inhibited(FleetInhibit)
    /// It has failed so often on what is to be done; the last failure's sentence.
    case quarantined(Int, String)
    /// The database knows an older epoch than this gateway: it went back without a trace.
    case behind(known: Int, found: Int)
}
