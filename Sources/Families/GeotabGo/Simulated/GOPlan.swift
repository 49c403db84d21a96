package import Base
package import Simulation

/// One simulated GO device and its vehicle, as a depot file describes them.
package struct GOPlan: SimulatedPlan {
    package var serial: Serial
    package var hardwareID: UInt32
    /// The moduli of tenants whose tokens it accepts, at most two.
    package var tenants: [[UInt8]] = []
    package var link = LinkParameters()
    package var isInReach = true
    /// The time from the first advertisement that it can receive to its subscription.
    package var reactionTime: Duration = .milliseconds(600)
    /// How long operations of doors, trunk and the like take.
    package var operationTime: Duration = .milliseconds(800)
    /// How far its clock is ahead; nil when it is not set at all.
    package var clockOffset: Duration? = .zero
    package var vehicle = Vehicle()
    package var faults: [ScriptedFault<Kind>] = []
    /// The probability that a link ends during a command, in hundredths of a percent.
    package var lossChance = 0
    /// Number of centrals that subscribe to any service and send nothing.
    package var strayCentrals = 0
    /// What an impostor says who connects before the device and keeps the signed commands.
    package var impostor: Impostor?

    package init(serial: Serial, hardwareID: UInt32) {
        self.serial = serial
        self.hardwareID = hardwareID
    }

    package var origin: String { "go \(serial) \(hardwareID) \(vehicle)" }

    package func join(_ place: ModulePlace) { GODevice.add(self, place) }

    /// What an impostor answers to a signed command.
    package enum Impostor: String, CaseIterable, Sendable {
        /// It rejects the message.
        case reject
        /// It is busy.
        case busy
        /// It refuses the command.
        case nack
        /// Another operation is in progress.
        case status
        case nothing
        /// It leaves, without the last few bytes.
        case leave
        /// It reports that the command was carried out, as one who passes it on to the vehicle can.
        case success
    }

    /// The state of the vehicle at the beginning of the simulation.
    package struct Vehicle: FlashFacts, Sendable, Equatable {
        package var isIgnitionOn = false
        package var isLocked = false
        package var isTrunkOpen = false
        package var isInhibited = false
        /// The bits of the secure conditions that are met.
        package var secureConditions: UInt32 = 0x3F
        /// Between 0 and 1; nil when there is no reading.
        package var fuel: Float? = 0.8
        /// In degrees; nil when there is no position.
        package var position: Position? = Position(latitude: 0, longitude: 0)
        package var reservation: String?

        package init() {}

        /// What no command changes is the plan's.
        package mutating func keep(in fields: inout FlashFields) {
            fields.keep(&isIgnitionOn)
            fields.keep(&isLocked)
            fields.keep(&isTrunkOpen)
            fields.keep(&isInhibited)
            fields.keep(&reservation, blank: "") { $1.keep(&$0) }
        }
    }

    /// A place on the globe, in degrees.
    package struct Position: Sendable, Equatable {
        package let latitude: Float
        package let longitude: Float

        package init(latitude: Float, longitude: Float) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The phases of a command in which something can happen.
    package enum Phase: String, CaseIterable, Sendable {
        /// The sync byte has arrived.
        case handshake
        /// The request has arrived and is not accepted yet.
        case request
        /// The request is accepted; the challenge is not sent yet.
        case challenge
        /// The signed command has arrived and is not checked yet.
        case command
        /// The command is accepted and acknowledged; it is carried out in any case.
        case acknowledgement
        /// The command is carried out; the result is not sent yet.
        case result
    }

    package enum Kind: FaultKind {
        /// It never requests the handshake on a link.
        case noHandshake
        /// It never acknowledges the confirmation on a link.
        case noHandshakeAcknowledgement
        /// It begins the handshake again in this phase of a command, then goes on.
        case secondHandshake(in: Phase)
        /// It does not say which device it is.
        case noVehicleData
        /// The challenge is sent before the acceptance of the request.
        case challengeEarly
        /// The challenge has this many random bytes.
        case challengeLength(Int)
        /// The frame of the challenge has a wrong checksum.
        case wrongChecksum
        /// It neither accepts nor rejects the message of this phase.
        case noReply(in: Phase)
        case rejects(in: Phase)
        case noChallenge
        case nack(UInt8)
        case noAcknowledgement
        case noResult
        /// The result is delayed by this time.
        case lateResult(Duration)
        /// It carries nothing out and reports this status.
        case status(id: UInt32, value: UInt32)
        /// It carries nothing out and reports a failure without a reason.
        case failsSilently
        case disconnect(in: Phase)
    }
}
