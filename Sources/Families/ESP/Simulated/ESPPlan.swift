package import Base
package import Radio
package import Simulation

/// One simulated ESP device, as its depot file describes it.
package struct ESPPlan: SimulatedModulePlan {
    package static let shape = ProfileShape.esp

    package var serial: Serial
    package var name: String?
    package var profile: Profile?
    package var server = ESPTarget.Server.nimble
    package var version = FirmwareVersion(1, 0)
    /// The chip number, as images contain it.
    package var chip: UInt16 = 9
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var restartTime: Duration = .seconds(3)
    /// The time to erase one page of 4 KiB.
    package var eraseTime: Duration = .milliseconds(45)
    package var faults: [ScriptedFault<Kind>] = []

    package init(serial: Serial) {
        self.serial = serial
        name = serial.text
    }

    package var origin: String { "esp \(serial) \(version)" }

    package func join(_ place: ModulePlace) { place.world.add(ESPModule(self, place)) }

    package enum Kind: UpdateFaultKind {
        case cut(Cut)
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

        package var cut: Cut? { if case .cut(let cut) = self { cut } else { nil } }

        package static func read(_ reader: inout FaultReader<Self>) {
            reader.cuts()
            reader.numbers(["loses-ack": { .ackLost($0) }])
            reader.flags([
                "refuses-start": .refusesStart, "fails-silently": .failsSilently,
                "rolls-back": .rollsBack, "never-returns": .neverReturns,
            ])
        }
    }
}
