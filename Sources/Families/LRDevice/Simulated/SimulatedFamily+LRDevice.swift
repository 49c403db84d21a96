import Base
import Radio
package import Simulation

extension SimulatedFamily {
    package static let lrdevice = SimulatedFamily(
        .lrdevice,
        as: "a simulated lock",
        invent: { module in
            let key = Hex.text(module.chance)
            let digits = Array(key.uppercased().prefix(32))
            let password = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
                .map { String(digits[$0]) }.joined(separator: "-")
            return InventedItem(
                [("key", "\"\(key)\""), ("password", "\"\(password)\"")],
                secret: "\(key):\(password)",
                faults: ["slow: 5s", "silent: true", "link-lost: true", "connect-fails: true"]
            )
        },
        read: { $0.locks() }
    )
}

extension PlanReader {
    fileprivate mutating func locks() -> [LRDevicePlan] {
        var plan: LRDevicePlan = begin(
            "a lock's serial has 12 hex digits",
            hint: "for example \"0a0b0c0d0e0f\", in quotes"
        ) { $0.utf8.count == 12 && Hex.bytes($0) != nil }
        plan.name = reader.text("name", default: plan.name)
        plan.key = hex(
            "key",
            .optional,
            count: 32...32,
            "a simulated lock's key is 32 bytes in hex",
            hint: "invent one: 64 hex digits, in quotes"
        )
        plan.password = reader.text("password", .optional).map { Array($0.utf8) }
        plan.state = reader.boolean("unlocked", default: false) ? .unlocked : .locked
        plan.autoLock = reader.integer("auto-lock", in: 0...255, .optional).map { UInt8($0) }
        plan.networks = reader.list("networks", .optional, of: "names")
            .compactMap { $0.text(diagnostics) }
        let (code, id) = (reader.text("guest-code", .optional), reader.text("guest-id", .optional))
        if let code, let id { plan.guest = LRDevicePlan.Guest(code: code, id: id) }
        reader.read("answer-time", into: &plan.answerTime)
        return end(plan)
    }
}
