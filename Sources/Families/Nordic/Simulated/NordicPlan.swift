package import Domain
package import Modules
import Protocols
package import Simulation

/// One simulated device of family `nordic`, as its depot file describes it.
package struct NordicPlan: Sendable, Equatable {
    /// Which bootloader it has.
    package enum Bootloader: String, CaseIterable, Sendable {
        case secure = "secure-dfu"
        case legacy = "legacy-dfu"
    }

    package var serial: Serial
    package var name: String?
    /// Nil for the generic profile of its kind of bootloader.
    package var profile: Profile?
    package var bootloader = Bootloader.secure
    package var version = FirmwareVersion(1, 0)
    package var model: String?
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(2)
    package var activationTime: Duration = .seconds(4)
    /// The time to erase one page.
    package var eraseTime: Duration = .milliseconds(85)
    /// Whether its bootloader uses the application's address instead of the next one.
    package var keepsAddress = false
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
            /// The packet at this byte is dropped.
            case packetLost(at: Int)
            /// The notification with this number is lost.
            case notificationLost(Int)
            /// It refuses the init packet as one for another device.
            case refusesInit
            /// It stays in its application when it receives the command to start its bootloader.
            case ignoresEntry
            case returnsUnchanged
            case neverReturns
            case connectFails
        }
    }
}
