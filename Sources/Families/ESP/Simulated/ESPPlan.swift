package import Domain
package import Modules
package import Protocols
package import Simulation

/// One simulated ESP device, as its depot file describes it.
package struct ESPPlan: Sendable, Equatable {
    package var serial: Serial
    package var name: String?
    /// Nil for the family's generic profile.
    package var profile: Profile?
    package var server = ESPTarget.Server.nimble
    package var version = FirmwareVersion(1, 0)
    /// The chip number, as images contain it.
    package var chip: UInt16 = 9
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(3)
    /// The time to erase one page of 4 KiB.
    package var eraseTime: Duration = .milliseconds(45)
    package var faults: [Fault] = []

    package init(serial: Serial) {
        self.serial = serial
        name = serial.text
    }

    /// A scripted fault.
    package struct Fault: Sendable, Equatable {
        package var kind: Kind
        /// How often it happens.
        package var times = 1

        package init(_ kind: Kind, times: Int = 1) {
            self.kind = kind
            self.times = times
        }

        package enum Kind: Sendable, Equatable {
            /// The link ends when this many bytes of an image have arrived.
            case linkLost(at: Int)
            case silent(at: Int)
            /// It restarts at this byte and loses the bytes that it had.
            case restart(at: Int)
            /// The exchange with this number ends early, before or after it is carried out.
            case breaks(ModulePlan.Break, atExchange: Int, isBefore: Bool)
            /// The acknowledgement with this number is lost.
            case ackLost(Int)
            /// It refuses to begin an upload.
            case refusesStart
            /// The image is accepted, but the old one runs on.
            case failsSilently
            /// The new image runs until the next restart, which happens automatically.
            case rollsBack
            case neverReturns
            case connectFails
        }
    }
}
