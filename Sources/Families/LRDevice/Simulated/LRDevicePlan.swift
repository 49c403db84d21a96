package import Domain
package import Modules
package import Simulation

/// One simulated LR device, as its depot file describes it.
package struct LRDevicePlan: Sendable, Equatable {
    package var serial: Serial
    package var name = "SmartLock"
    /// Nil for the family's generic profile.
    package var profile: Profile?
    /// The key that it agreed on with its owner before; nil for a device in its factory state.
    package var key: [UInt8]?
    package var password: [UInt8]?
    package var state = LRLockState.locked
    package var autoLock: UInt8?
    /// The networks that it receives.
    package var networks: [String] = []
    /// A guest who may unlock.
    package var guest: Guest?
    /// Nil when it is out of reach.
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(250)
    package var link = LinkParameters()
    package var answerTime: Duration = .milliseconds(20)
    package var faults: [Fault] = []

    package init(serial: Serial) { self.serial = serial }

    /// A person who may unlock without the password, with a code and an id.
    package struct Guest: Sendable, Equatable {
        package var code: String
        package var id: String

        package init(code: String, id: String) {
            self.code = code
            self.id = id
        }
    }

    /// A fault that happens by script a number of times.
    package struct Fault: Sendable, Equatable {
        package var kind: Kind
        package var times = 1

        package init(_ kind: Kind, times: Int = 1) {
            self.kind = kind
            self.times = times
        }

        package enum Kind: Sendable, Equatable {
            /// The answer to a request is delayed by this time.
            case slow(Duration)
            /// A request is carried out and not answered.
            case silent
            /// A request is answered with a message of another kind.
            case wrongKind
            /// Bytes that are not a message are sent before the answer.
            case garbage
            /// This many notifications are sent before the answer.
            case storm(Int)
            /// The key exchange is answered with a key that is invalid.
            case weakKey
            /// The link ends instead of the answer.
            case linkLost
            case connectFails
            /// A request is refused, because the link is not encrypted.
            case wantsBond
        }
    }
}
