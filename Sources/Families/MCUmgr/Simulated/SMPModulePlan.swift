package import Domain
package import Modules
package import Protocols
package import Simulation

/// One simulated module of family `mcumgr`, as its depot file describes it.
package struct SMPModulePlan: Sendable, Equatable {
    /// Also the name that it advertises: SMP has no other identity.
    package var serial: Serial
    /// Nil for a module that advertises no name.
    package var name: String?
    /// Nil for the family's generic profile.
    package var profile: Profile?
    /// The initial versions of its images; the first is the main image.
    package var versions = [FirmwareVersion(1, 0)]
    /// Nil when it is out of reach.
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
            /// The module stops answering at this byte, and the link times out.
            case silent(at: Int)
            /// It restarts at this byte and loses the bytes that it had.
            case restart(at: Int)
            /// The exchange ends early at the write with this number, which is lost or just
            /// received.
            case breaks(ModulePlan.Break, atWrite: Int, isTaken: Bool)
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
        }
    }
}
