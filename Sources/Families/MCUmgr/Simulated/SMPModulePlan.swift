package import Base
package import Radio
package import Simulation

/// One simulated module of family `mcumgr`, as its depot file describes it.
package struct SMPModulePlan: SimulatedModulePlan {
    package static let shape = ProfileShape.mcumgr

    /// Also the name that it advertises: SMP has no other identity.
    package var serial: Serial
    /// Nil for a module that advertises no name.
    package var name: String?
    package var profile: Profile?
    /// The initial versions of its images; the first is the main image.
    package var versions = [FirmwareVersion(1, 0)]
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var rules = SMPServerRules()
    /// Its statistics, settings and files.
    package var values = SMPServerValues()
    /// Characteristics other than that of SMP, with their initial values.
    package var characteristics: [Characteristic: [UInt8]] = [:]
    package var restartTime: Duration = .seconds(2)
    /// How long the bootloader takes to exchange two images.
    package var activationTime: Duration = .seconds(8)
    /// The time to erase one page.
    package var eraseTime: Duration = .milliseconds(85)
    /// The time to receive a message.
    package var messageTime: Duration = .zero
    /// How its application bonds; nil when it cannot bond.
    package var bond: AirSecurity.Plan?
    package var faults: [ScriptedFault<Kind>] = []

    package init(serial: Serial) {
        self.serial = serial
        name = serial.text
    }

    package var origin: String {
        let values = [values.settings, values.saved, values.files]
            .map { $0.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }
        return "mcumgr \(serial) \(versions) \(values)"
    }

    package func join(_ place: ModulePlace) { place.world.add(SMPModule(self, place)) }

    package enum Kind: UpdateFaultKind {
        case cut(Cut)
        /// The answer at this byte is lost.
        case answerLost(at: Int)
        /// The answer at this byte is sent twice.
        case answerTwice(at: Int)
        /// The write at this byte is dropped, because no buffer is free.
        case pieceLost(at: Int)
        /// One bit of the bytes at this offset is flipped in its flash.
        case corrupted(at: Int)
        /// It answers with a wrong offset.
        case wrongOffset(at: Int)
        case flashFull(at: Int)
        /// It answers that it is busy.
        case busy
        /// It restarts in the middle of an erase.
        case restartInErase
        /// Its marks are lost during the restart.
        case marksLost
        /// The new image crashes before it can be confirmed.
        case crashes
        case refusesTest
        case refusesConfirm
        /// It answers the restart command and keeps running.
        case ignoresReset
        case neverReturns
        case connectFails
        case addressChanges

        package var cut: Cut? { if case .cut(let cut) = self { cut } else { nil } }

        package static func read(_ reader: inout FaultReader<Self>) {
            reader.cuts()
            reader.bytes(
                from: 1,
                [
                    "answer-lost-at": { .answerLost(at: $0) },
                    "answer-twice-at": { .answerTwice(at: $0) },
                    "piece-lost-at": { .pieceLost(at: $0) },
                    "corrupted-at": { .corrupted(at: $0) },
                    "wrong-offset-at": { .wrongOffset(at: $0) },
                    "flash-full-at": { .flashFull(at: $0) },
                ]
            )
            reader.flags([
                "busy": .busy, "restarts-in-erase": .restartInErase, "marks-lost": .marksLost,
                "crashes": .crashes, "refuses-test": .refusesTest,
                "refuses-confirm": .refusesConfirm, "ignores-reset": .ignoresReset,
                "never-returns": .neverReturns, "address-changes": .addressChanges,
            ])
        }
    }
}
