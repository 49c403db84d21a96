package import Base
package import Radio
package import Simulation

/// One simulated module, as its depot file describes it.
package struct ModulePlan: SimulatedModulePlan {
    package static let shape = ProfileShape.comodule

    package var serial: Serial
    package var name = "COMODULE"
    /// Another generation gives the module another initial address.
    package var addressGeneration: UInt8 = 0
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
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(2)
    /// How long the bootloader takes to install a complete image.
    package var activationTime: Duration = .seconds(4)
    package var eraseTime: Duration = .milliseconds(85)
    /// Whether the progress of a transfer survives a restart of the bootloader.
    package var keepsProgress = true
    /// Whether it starts its bootloader in the form for bonded centrals: no name, same address.
    package var isBonded = false
    /// Whether its bootloader supports no name: it then advertises at the address after its own.
    package var isNameless = false
    /// How its application bonds; nil when it cannot bond.
    package var bond: AirSecurity.Plan?
    /// The initial versions of the other parts.
    package var bootloaderVersion = FirmwareVersion(1, 2)
    package var external1Version = FirmwareVersion(1, 2, 3)
    package var external2Version = FirmwareVersion(0, 3, 1)
    /// How long it hands an image on to one of its parts.
    package var handoverTime: Duration = .seconds(90)
    /// How many packets can wait for flash before further ones are dropped; nil for no limit.
    package var packetPool: Int?
    /// The time that flash needs to write a page of 4 KiB; used only with a limited pool.
    package var pageWriteTime: Duration = .milliseconds(42)
    /// The only hardware version whose images the bootloader takes; nil for any.
    package var hardwareVersion: UInt32?
    /// The SoftDevice that an image must name; nil for any.
    package var softDevice: UInt32?
    /// The key that images must be signed with: ECDSA P-256, in DER; nil for any signer.
    package var publicKey: [UInt8]?
    /// Whether the bootloader refuses images that are not newer.
    package var preventsDowngrade = false
    package var faults: [ScriptedFault<Kind>] = []
    /// Further facts about the vehicle.
    package var vehicle = VehicleSettings()

    package init(serial: Serial) { self.serial = serial }

    package var origin: String { "\(serial) \(version) \(primaryVersion) \(firmwareType)" }

    package var bootloaderService: GATTUUID? { DFUNumbers.service }

    package func join(_ place: ModulePlace) { place.world.add(ComoduleModule(self, place)) }

    /// The exchanges that a central can have with the application.
    package enum Exchange: String, CaseIterable, Sendable {
        case challenge, response, state, selector, register, command, key, notifier, information
    }

    package enum Kind: UpdateFaultKind {
        case cut(Cut)
        /// The bootloader's notification with this number is lost.
        case loseNotification(Int)
        /// The bootloader's notification with this number is sent twice.
        case repeatNotification(Int)
        /// The packet that begins at this byte of the image is dropped silently.
        case dropPacket(at: Int)
        /// The first checksum reported at or after this byte is wrong.
        case wrongChecksum(from: Int)
        /// The first offset reported at or after this byte is wrong.
        case wrongOffset(from: Int)
        /// It restarts while the page at this byte is erased.
        case restartInErase(at: Int)
        /// There is no room for the image.
        case flashFull
        /// It refuses to start the image and stays in its bootloader.
        case refuseBoot
        /// It runs the new image for this long, and then the old one again.
        case revert(after: Duration)
        /// It refuses the init packet.
        case refuseInit
        /// It answers "busy" to the command that starts its bootloader.
        case refuseBootloader
        /// It installs nothing and returns with the old version.
        case returnUnchanged
        /// It never returns after the image is complete.
        case neverReturn
        /// Its "ongoing" status alternates for `total` after its return.
        case flap(total: Duration, period: Duration)
        /// It restarts once more after its return.
        case restartAfterReturn
        /// A connection attempt fails.
        case connectFails
        /// It has another address after an update.
        case addressChanges
        /// The link ends at this exchange, before the answer.
        case linkLostIn(Exchange)
        /// It never answers this exchange.
        case silentIn(Exchange)
        /// The link ends this long after it was made.
        case linkLostAfter(Duration)
        /// Each answer takes this long.
        case slow(Duration)
        /// Its register holds a record other than the selected one.
        case wrongRecord
        /// Its register and its notifier give bytes that are not a record.
        case garbage
        /// It notifies its speed this many times a second.
        case storm(perSecond: Int)
        /// It treats a right response to its challenge as wrong.
        case refuseKey
        /// It accepts no new key.
        case refuseKeyChange
        /// It refuses to bond.
        case refuseBond
        /// It accepts writes and ignores them.
        case ignoresWrites
        /// It lacks this characteristic.
        case lacks(UInt16)
        /// It has no key, and accepts every answer.
        case impostor

        package var cut: Cut? { if case .cut(let cut) = self { cut } else { nil } }
    }
}

extension ModulePlan {
    var buttonless: Characteristic {
        isBonded ? DFUNumbers.buttonlessBonded : DFUNumbers.buttonless
    }
}
