package import Base
package import Store

/// Why a vehicle is not as its rollout requires.
package enum Cause: String, CaseIterable, Sendable {
    // Each class of failure.
    case transient
    case unreachable
    case rejected
    case integrity
    case device
    case noReturn = "no-return"
    case wrongVersion = "wrong-version"
    case rolledBack = "rolled-back"
    case inDoubt = "in-doubt"
    case `internal`
    /// Its time for this run was used up.
    case timedOut = "timed-out"
    /// It failed so often that runs leave it alone.
    case quarantined
    /// A precondition about its battery does not hold.
    case lowPower = "low-power"
    /// Another precondition does not hold.
    case condition
    /// Nothing was done, because of this machine or its fleet.
    case gateway
    /// The fleet list contradicts the plan.
    case list
    /// It was begun and has no verdict.
    case unfinished
    case notBegun = "not-begun"
    /// It has no verdict, and its order is over.
    case cutOff = "cut-off"
    /// Its verdict is good, and a run still has something to do.
    case owing
    /// A person has set it aside.
    case inhibited

    package init(_ failure: FailureClass) {
        self =
            switch failure {
            case .transient: .transient
            case .unreachable: .unreachable
            case .rejected: .rejected
            case .integrity: .integrity
            case .device: .device
            case .noReturn: .noReturn
            case .wrongVersion: .wrongVersion
            case .rolledBack: .rolledBack
            case .inDoubt: .inDoubt
            case .internal: .internal
            }
    }

    /// In a few words, for people.
    package var words: String {
        switch self {
        case .transient: "the link broke, or the module was busy"
        case .unreachable: "not heard"
        case .rejected: "its key, bond or image is refused"
        case .integrity: "the image or its signature is not valid"
        case .device: "the module reports an error of its own"
        case .noReturn: "the module did not come back"
        case .wrongVersion: "it runs a version that is not the promised one"
        case .rolledBack: "it went back to its old image"
        case .inDoubt: "a command was perhaps carried out"
        case .internal: "an error of this program"
        case .timedOut: "its time was used up"
        case .quarantined: "it failed too often"
        case .lowPower: "its battery is too low"
        case .condition: "a condition does not hold"
        case .gateway: "the gateway could not work"
        case .list: "the list was changed"
        case .unfinished: "begun, without a verdict yet"
        case .notBegun: "not begun"
        case .cutOff: "an order was cut off"
        case .owing: "a run has to finish something"
        case .inhibited: "set aside"
        }
    }

    /// How well a module was heard last.
    package enum Signal: String, CaseIterable, Sendable {
        /// So well that the distance is not the reason.
        case near
        case far
        case unknown

        /// The weakest signal that is near, in dBm.
        static let weakest = -80

        /// `text` is the signal of a run's event, such as `-71 dBm`.
        package init(_ text: String?) {
            guard let word = text?.split(separator: " ").first, let level = Int(word) else {
                self = .unknown
                return
            }
            self = level >= Self.weakest ? .near : .far
        }
    }

    /// What was tried on its module and is not proven.
    package enum Tried: String, CaseIterable, Sendable {
        case nothing
        case part
        case whole
        case bootloader

        /// For people, in the table.
        var words: String {
            switch self {
            case .nothing: "nothing"
            case .part: "part of an image"
            case .whole: "a whole image"
            case .bootloader: "its bootloader waits"
            }
        }

        package init(_ standing: Standing) {
            guard standing.debt != nil else {
                self = .nothing
                return
            }
            self =
                switch standing.state {
                case .inBootloader: .bootloader
                case .unproven: .whole
                case .midUpdate, .waiting, .notBegun: .part
                }
        }
    }
}
