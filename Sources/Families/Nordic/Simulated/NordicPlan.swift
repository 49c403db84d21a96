package import Domain
package import Modules
import Protocols
package import Simulation

/// One simulated device of family `nordic` as its depot file describes it.
package struct NordicPlan: Sendable, Equatable {
    /// Which bootloader it has.
    package enum Bootloader: String, CaseIterable, Sendable {
        case secure = "secure-dfu"
        case legacy = "legacy-dfu"
    }

    package var serial: Serial
    package var name: String?
    /// Nil for one that the bootloader's kind gives.
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
    /// Of one page.
    package var eraseTime: Duration = .milliseconds(85)
    /// Its bootloader is at the application's own address, and not at the next one.
    package var keepsAddress = false
    package var faults: [Fault] = []

    package init(serial: Serial) {
        self.serial = serial
        name = serial.text
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
            /// The link ends once so many bytes of an image have come.
            case linkLost(at: Int)
            case silent(at: Int)
            /// It restarts there, and forgets what it had.
            case restart(at: Int)
            /// That happens at the exchange with this number, before or after it is carried out.
            case breaks(ModulePlan.Break, atExchange: Int, isBefore: Bool)
            /// A packet is dropped there.
            case packetLost(at: Int)
            /// A notification is lost.
            case notificationLost(Int)
            /// The init packet is of another device.
            case refusesInit
            /// It stays in its application when it is asked to start its bootloader.
            case ignoresEntry
            case returnsUnchanged
            case neverReturns
            case connectFails
        }
    }
}
