package import Domain
package import Modules
import Protocols
package import Simulation

/// One simulated module as its depot file describes it.
package struct ModulePlan: Sendable, Equatable {
    package var serial: Serial
    package var name = "COMODULE"
    /// Another one gives it another address to begin with.
    package var addressGeneration: UInt8 = 0
    /// Nil for the family's generic profile.
    package var profile: Profile?
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
    /// Whether it leads into its bootloader in the form for bonded centrals: no name, one address.
    package var isBonded = false
    /// Whether its bootloader takes no name: then it is heard at the address after its own.
    package var isNameless = false
    /// How its application bonds; nil when it cannot.
    package var bond: AirSecurity.Plan?
    /// What the other parts run to begin with.
    package var bootloaderVersion = FirmwareVersion(1, 2)
    package var external1Version = FirmwareVersion(1, 2, 3)
    package var external2Version = FirmwareVersion(0, 3, 1)
    /// How long it hands an image on to one of its parts.
    package var handoverTime: Duration = .seconds(90)
    /// Packets that wait for flash at most before further ones are dropped; nil for no bound.
    package var packetPool: Int?
    /// How long the flash takes to write a page of 4 KiB; counts only with a bounded pool.
    package var pageWriteTime: Duration = .milliseconds(42)
    /// The only hardware version whose images the bootloader takes; nil for any.
    package var hardwareVersion: UInt32?
    /// The SoftDevice that an image must name; nil takes any.
    package var softDevice: UInt32?
    /// Whose images the bootloader takes: ECDSA P-256, in DER; nil for anybody's.
    package var publicKey: [UInt8]?
    /// Whether the bootloader refuses images that are not newer.
    package var preventsDowngrade = false
    package var faults: [Fault] = []
    /// What its vehicle is like, beyond what is named above.
    package var vehicle = VehicleSettings()

    package init(serial: Serial) { self.serial = serial }

    /// A way in which an exchange ends early.
    package enum Break: Sendable, Equatable, CaseIterable {
        case linkLost
        /// It answers nothing any more until the link times out.
        case silence
        /// It restarts in the role that it is in.
        case restart
    }

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
            /// That happens at the read or write with this number, before or after it is done.
            case breaks(Break, atExchange: Int, isBefore: Bool)
            /// The bootloader's notification with this number is lost.
            case loseNotification(Int)
            /// It comes twice.
            case repeatNotification(Int)
            /// The packet that begins at this byte of the image is dropped without a word.
            case dropPacket(at: Int)
            /// The first checksum told from this byte on is wrong.
            case wrongChecksum(from: Int)
            /// The first offset told from this byte on is wrong.
            case wrongOffset(from: Int)
            /// It restarts while the page at this byte is erased.
            case restartInErase(at: Int)
            /// There is no room for the image.
            case flashFull
            /// It refuses to start the image and stays in its bootloader.
            case refuseBoot
            /// It runs the new image for so long, and then the old one again.
            case revert(after: Duration)
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

extension ModulePlan {
    var buttonless: Characteristic {
        isBonded ? DFUNumbers.buttonlessBonded : DFUNumbers.buttonless
    }
}

extension ModulePlan.Fault.Kind {
    func isWrongChecksum(at offset: Int) -> Bool {
        if case .wrongChecksum(let from) = self { return offset >= from }
        return false
    }

    func isWrongOffset(at offset: Int) -> Bool {
        if case .wrongOffset(let from) = self { return offset >= from }
        return false
    }
}
