package import Domain
package import Simulation

/// One simulated GO device and its vehicle, as a depot file describes them.
package struct GOPlan: Sendable, Equatable {
    package var serial: Serial
    package var hardwareID: UInt32
    /// Up to two moduli of tenants whose tokens it takes.
    package var tenants: [[UInt8]] = []
    package var link = LinkParameters()
    package var isInReach = true
    /// From the first advertisement it could hear to its subscription.
    package var reactionTime: Duration = .milliseconds(600)
    /// How long doors, trunk and the like take.
    package var operationTime: Duration = .milliseconds(800)
    /// How far its clock is ahead; nil when it is not set at all.
    package var clockOffset: Duration? = .zero
    package var vehicle = Vehicle()
    package var faults: [Fault] = []
    /// How likely a link ends somewhere in a command, in hundredths of a percent.
    package var lossChance = 0
    /// Centrals that subscribe to anything and say nothing.
    package var strayCentrals = 0

    package init(serial: Serial, hardwareID: UInt32) {
        self.serial = serial
        self.hardwareID = hardwareID
    }

    /// What the vehicle is like when the simulation begins.
    package struct Vehicle: Sendable, Equatable {
        package var isIgnitionOn = false
        package var isLocked = false
        package var isTrunkOpen = false
        package var isInhibited = false
        /// Bits of the secure conditions that hold.
        package var secureConditions: UInt32 = 0x3F
        /// Between 0 and 1; nil when there is no reading.
        package var fuel: Float? = 0.8
        /// In degrees; nil when there is no position.
        package var position: Position? = Position(latitude: 0, longitude: 0)
        package var reservation: String?

        package init() {}
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

    /// Where in a command something can happen.
    package enum Phase: String, CaseIterable, Sendable {
        /// The sync byte has come.
        case handshake
        /// The request has come, before it is accepted.
        case request
        /// Accepted, before the challenge.
        case challenge
        /// The signed command has come, before it is looked at.
        case command
        /// Accepted and acknowledged; it is carried out all the same.
        case acknowledgement
        /// Carried out, before the result.
        case result
    }

    /// Something that goes wrong by script.
    package struct Fault: Sendable, Equatable {
        package var kind: Kind
        /// How often it happens.
        package var times = 1

        package init(_ kind: Kind, times: Int = 1) {
            self.kind = kind
            self.times = times
        }

        package enum Kind: Sendable, Equatable {
            /// It never asks for the handshake on a link.
            case noHandshake
            /// It never acknowledges the confirmation on a link.
            case noHandshakeAcknowledgement
            /// It begins the handshake again in this phase of a command, then goes on.
            case secondHandshake(in: Phase)
            /// The challenge comes before the acceptance of the request.
            case challengeEarly
            /// The challenge has so many random bytes.
            case challengeLength(Int)
            /// A frame carries a wrong checksum: the challenge's.
            case wrongChecksum
            /// It neither accepts nor rejects the message of this phase.
            case noReply(in: Phase)
            case rejects(in: Phase)
            case noChallenge
            case nack(UInt8)
            case noAcknowledgement
            case noResult
            /// The result comes so much later.
            case lateResult(Duration)
            /// It carries nothing out and reports this.
            case status(id: UInt32, value: UInt32)
            /// It carries nothing out and reports a failure without a reason.
            case failsSilently
            case disconnect(in: Phase)
        }
    }
}
