package import Base
package import Radio
package import Simulation

/// One simulated LR device, as its depot file describes it.
package struct LRDevicePlan: SimulatedModulePlan {
    package static let shape = ProfileShape.lrdevice

    package var serial: Serial
    package var name = "SmartLock"
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
    package var signal: Int? = -60
    package var advertisingInterval: Duration = .milliseconds(250)
    package var link = LinkParameters()
    package var answerTime: Duration = .milliseconds(20)
    package var faults: [ScriptedFault<Kind>] = []

    package init(serial: Serial) { self.serial = serial }

    package var origin: String {
        let texts = [Hex.text(key ?? []), Hex.text(password ?? [])]
        return "lock \(serial) \(name) \(texts) \(state.rawValue) \(autoLock ?? 0)"
    }

    package func join(_ place: ModulePlace) { place.world.add(LRDevice(self, place)) }

    /// A person who may unlock without the password, with a code and an id.
    package struct Guest: Sendable, Equatable {
        package var code: String
        package var id: String

        package init(code: String, id: String) {
            self.code = code
            self.id = id
        }
    }

    package enum Kind: ModuleFaultKind {
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

        package static var example: String { "silent: true" }

        package static func read(_ reader: inout FaultReader<Self>) {
            reader.durations(["slow": { .slow($0) }])
            reader.numbers(["storm": { .storm($0) }])
            reader.flags([
                "silent": .silent, "wrong-kind": .wrongKind, "garbage": .garbage,
                "weak-key": .weakKey, "link-lost": .linkLost, "connect-fails": .connectFails,
                "wants-bond": .wantsBond,
            ])
        }
    }
}
