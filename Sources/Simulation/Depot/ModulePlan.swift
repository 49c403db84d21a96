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
    /// What its vehicle is like, beyond what is named above.
    package var vehicle = VehicleSettings()

    package init(serial: Serial) { self.serial = serial }

    /// What a central can ask of the application.
    package enum Exchange: String, CaseIterable, Sendable {
        case challenge, response, state, selector, register, command, key, notifier, information
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
            /// The link ends when it is asked for this, before the answer.
            case linkLostIn(Exchange)
            /// It never answers this.
            case silentIn(Exchange)
            /// The link ends so long after it was made.
            case linkLostAfter(Duration)
            /// Each answer takes so long.
            case slow(Duration)
            /// Its register holds another record than the one that was selected.
            case wrongRecord
            /// Its register gives three bytes that are no record, and so does its notifier.
            case garbage
            /// It tells of its speed so many times a second.
            case storm(perSecond: Int)
            /// It takes a right answer to its challenge for a wrong one.
            case refuseKey
            /// It takes no new key.
            case refuseKeyChange
            /// It does not let itself be bonded.
            case refuseBond
            /// It takes what is written and does nothing.
            case ignoresWrites
            /// It has no such characteristic.
            case lacks(UInt16)
        }
    }
}
