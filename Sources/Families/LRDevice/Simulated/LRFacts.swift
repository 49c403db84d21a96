import Base

/// The facts that a simulated lock keeps.
package struct LRFacts: FlashFacts {
    var name: String
    var key: [UInt8]?
    var password: [UInt8]?
    var state: LRLockState
    var autoLock: UInt8?
    var user: [UInt8] = []

    init(plan: LRDevicePlan) {
        (name, key, password) = (plan.name, plan.key, plan.password)
        (state, autoLock) = (plan.state, plan.autoLock)
    }

    package mutating func keep(in fields: inout FlashFields) {
        var reported = state.rawValue
        fields.keep(&reported)
        state = LRLockState(reported: reported)
        fields.keep(&name)
        fields.keep(&key, blank: []) { $1.keep(&$0) }
        fields.keep(&password, blank: []) { $1.keep(&$0) }
        fields.keep(&user)
        fields.keep(&autoLock, blank: 0) { $1.keep(&$0) }
    }
}
