package import Domain
package import Modules
package import Protocols
package import Simulation

/// One simulated module of family `mcumgr` as its depot file describes it.
package struct SMPModulePlan: Sendable, Equatable {
    /// What it advertises as, too: SMP knows no other identity.
    package var serial: Serial
    /// Nil for one that advertises none.
    package var name: String?
    /// Nil for the family's generic profile.
    package var profile: Profile?
    /// What its images are at the beginning; the first is the main one.
    package var versions = [FirmwareVersion(1, 0)]
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(400)
    package var link = LinkParameters()
    package var rules = SMPServerRules()
    /// Its statistics, settings and files.
    package var values = SMPServerValues()
    /// Characteristics beside that of SMP, and what they hold to begin with.
    package var characteristics: [Characteristic: [UInt8]] = [:]
    package var restartTime: Duration = .seconds(2)
    /// How long the bootloader takes to exchange two images.
    package var activationTime: Duration = .seconds(8)
    /// Of one page.
    package var eraseTime: Duration = .milliseconds(85)
    /// For taking a message in.
    package var messageTime: Duration = .zero
    /// How its application bonds; nil when it cannot.
    package var bond: AirSecurity.Plan?
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
            /// The module falls silent there, and the link times out.
            case silent(at: Int)
            /// It restarts there, and forgets what it had.
            case restart(at: Int)
            /// That happens at the write with this number, which is lost with it or just taken.
            case breaks(ModulePlan.Break, atWrite: Int, isTaken: Bool)
            /// An answer is lost there.
            case answerLost(at: Int)
            /// An answer comes twice there.
            case answerTwice(at: Int)
            /// A write is dropped there, for want of a buffer.
            case pieceLost(at: Int)
            /// A bit of what comes there is flipped in its flash.
            case corrupted(at: Int)
            /// It answers with an offset that is not its own.
            case wrongOffset(at: Int)
            case flashFull(at: Int)
            /// It says that it is busy.
            case busy
            /// It restarts in the middle of an erase.
            case restartInErase
            /// Its marks are lost over the restart.
            case marksLost
            /// The new image crashes before anybody can confirm it.
            case crashes
            case refusesTest
            case refusesConfirm
            /// It answers the restart and goes on.
            case ignoresReset
            case neverReturns
            case connectFails
            case addressChanges
        }
    }
}
