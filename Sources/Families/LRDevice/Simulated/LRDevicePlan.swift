package import Domain
package import Modules
package import Simulation

/// One simulated LR device as its depot file describes it.
package struct LRDevicePlan: Sendable, Equatable {
    package var serial: Serial
    package var name = "SmartLock"
    /// Nil for the family's generic profile.
    package var profile: Profile?
    /// What it agreed on with its owner before; nil while it is as it left its maker.
    package var key: [UInt8]?
    package var password: [UInt8]?
    package var state = LRLockState.locked
    package var autoLock: UInt8?
    /// The networks it hears.
    package var networks: [String] = []
    /// Code and id of a guest who may unlock.
    package var guest: Guest?
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(250)
    package var link = LinkParameters()
    package var answerTime: Duration = .milliseconds(20)
    package var faults: [Fault] = []

    package init(serial: Serial) { self.serial = serial }

    /// Somebody who may unlock without the password.
    package struct Guest: Sendable, Equatable {
        package var code: String
        package var id: String

        package init(code: String, id: String) {
            self.code = code
            self.id = id
        }
    }

    /// Something that goes wrong by script, so and so often.
    package struct Fault: Sendable, Equatable {
        package var kind: Kind
        package var times = 1

        package init(_ kind: Kind, times: Int = 1) {
            self.kind = kind
            self.times = times
        }

        package enum Kind: Sendable, Equatable {
            /// A request is answered so much later.
            case slow(Duration)
            /// A request is done and not answered.
            case silent
            /// A request is answered with a message of another kind.
            case wrongKind
            /// Bytes that are no message come before the answer.
            case garbage
            /// So many notifications come before the answer.
            case storm(Int)
            /// The key exchange is answered with a key that is none.
            case weakKey
            /// The link ends in place of the answer.
            case linkLost
            case connectFails
        }
    }
}
