package import Base
package import Radio
package import Simulation

/// One simulated Nordic device, as its depot file describes it.
package struct NordicPlan: SimulatedModulePlan {
    package static let shape = ProfileShape.nordic

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
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(2)
    package var activationTime: Duration = .seconds(4)
    /// The time to erase one page.
    package var eraseTime: Duration = .milliseconds(85)
    /// Whether its bootloader uses the application's address instead of the next one.
    package var keepsAddress = false
    package var faults: [ScriptedFault<Kind>] = []

    package init(serial: Serial) {
        self.serial = serial
        name = serial.text
    }

    package var origin: String { "nordic \(serial) \(version) \(bootloader)" }

    package var bootloaderService: GATTUUID? {
        bootloader == .legacy ? LegacyNumbers.service : DFUNumbers.service
    }

    package func join(_ place: ModulePlace) { place.world.add(NordicModule(self, place)) }

    package enum Kind: UpdateFaultKind {
        case cut(Cut)
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

        package var cut: Cut? { if case .cut(let cut) = self { cut } else { nil } }

        package static func read(_ reader: inout FaultReader<Self>) {
            reader.cuts()
            reader.bytes(["packet-lost-at": { .packetLost(at: $0) }])
            reader.numbers(["loses-notification": { .notificationLost($0) }])
            reader.flags([
                "refuses-init": .refusesInit, "ignores-entry": .ignoresEntry,
                "returns-unchanged": .returnsUnchanged, "never-returns": .neverReturns,
            ])
        }
    }
}
