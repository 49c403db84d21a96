package import Domain

/// One simulated module as its depot file describes it.
package struct ModulePlan: Sendable, Equatable {
    package var serial: Serial
    package var name = "COMODULE"
    /// Twenty bytes.
    package var key: [UInt8] = []
    package var firmwareType: UInt16 = 0
    package var firmwareVariant: UInt16 = 0
    /// The secondary MCU's version: the module's own firmware.
    package var version = FirmwareVersion(1, 0)
    package var primaryVersion = FirmwareVersion(1, 0)
    package var stateOfCharge: UInt8 = 80
    package var speedTenths: UInt16 = 0
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(2)
    /// How long the bootloader takes to put a whole image in place.
    package var activationTime: Duration = .seconds(4)
    package var eraseTime: Duration = .milliseconds(85)
    /// Whether a transfer's progress outlives a restart of the bootloader.
    package var keepsProgress = true
    package var faults: [Fault] = []

    package init(serial: Serial) { self.serial = serial }

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
            /// The link ends once so many bytes of the image have come.
            case linkLost(at: Int)
            /// The module falls silent there, and the link times out.
            case silent(at: Int)
            /// It restarts there.
            case restart(at: Int)
            /// It refuses the init packet.
            case refuseInit
            /// It says that it is busy when told to start its bootloader.
            case refuseBootloader
            /// It installs nothing and comes back as it was.
            case returnUnchanged
            /// It never comes back after the image is complete.
            case neverReturn
            /// Its "ongoing" status comes and goes for so long after its return.
            case flap(total: Duration, period: Duration)
            /// It restarts once more after it came back.
            case restartAfterReturn
            /// A connection attempt fails.
            case connectFails
            /// It has another address after an update.
            case addressChanges
        }
    }
}
