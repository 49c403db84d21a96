import Base
import Manifest
import Store

extension VehicleJob {
    /// The key of a step by its place: the vehicle's own steps first, then those of `always`.
    func key(of place: Int) -> StepKey {
        let isLast = place >= steps.count
        let (list, index) = isLast ? (always, place - steps.count) : (steps, place)
        let identity = list[index].identity
        let ordinal = list[..<index].count { $0.identity == identity }
        // A step of `always` never has the key of one of the vehicle's own steps, even an equal
        // one.
        let text = (isLast ? "always\n" : "step\n") + identity
        return StepKey(SHA256.digest(of: Array(text.utf8)), ordinal: ordinal)
    }
}

extension JobStep {
    /// What distinguishes one step from another: its action, without anything secret.
    fileprivate var identity: String {
        switch self {
        case .update(let update): "update\n\(update.target.rawValue)\n\(update.digest)"
        case .feature(let orders):
            ([action] + orders.compactMap(\.digest)).joined(separator: "\n")
        case .require, .read, .set, .expect, .command, .wait, .rotate: action
        }
    }
}
