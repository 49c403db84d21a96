import Domain
import Modules
import Protocols
import Simulation
import SourceTree

/// Reads an item of a depot's `modules` that is of family `esp`.
struct ESPModuleReader {
    private var reader: FieldReader
    private let item: DepotItem
    private let diagnostics: Diagnostics

    init(_ item: DepotItem) {
        reader = FieldReader(item.node, item.diagnostics, as: "a simulated device")
        self.item = item
        diagnostics = item.diagnostics
    }

    mutating func read() -> [ESPPlan] {
        _ = reader.family()
        let profile = item.profile(of: .esp, &reader)
        let serial = reader.text("serial").flatMap { Serial($0) }
        if serial == nil, reader.has("serial") {
            diagnostics.error(
                reader.place(of: "serial"),
                "a serial is 1 to 64 visible characters without spaces",
                hint: "it is the name or the address that the device advertises, such as esp-0001"
            )
        }
        // The rest is read even without a serial, so that all faults are reported together.
        guard let stand = serial ?? Serial("none") else { return [] }
        var plan = ESPPlan(serial: stand)
        plan.profile = profile
        plan.server = reader.choice("server", default: ESPTarget.Server.nimble)
        if let name = reader.text("name", .optional) { plan.name = name }
        if reader.boolean("nameless", default: false) { plan.name = nil }
        if let text = reader.text("version", .optional) {
            if let version = FirmwareVersion(text) {
                plan.version = version
            } else {
                diagnostics.error(
                    reader.place(of: "version"),
                    "`\(text)` is not a version",
                    hint: "write two to four numbers in quotes, as in \"1.2.3\""
                )
            }
        }
        plan.chip = UInt16(reader.integer("chip", in: 0...65_535, default: Int(plan.chip)))
        plan.signal = reader.integer("signal", in: -120...0, default: -60)
        if reader.boolean("out-of-reach", default: false) { plan.signal = nil }
        plan.restartTime = reader.duration("restart-time", default: plan.restartTime)
        plan.eraseTime = reader.duration("erase-time", default: plan.eraseTime)
        plan.link = item.link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: item.link)
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        reader.finish()
        return serial == nil ? [] : [plan]
    }

    private func fault(_ node: SourceNode) -> ESPPlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...255, default: 1)
        var kinds: [ESPPlan.Fault.Kind] = []
        let offsets: [(String, (Int) -> ESPPlan.Fault.Kind)] = [
            ("link-lost-at", { .linkLost(at: $0) }), ("silent-at", { .silent(at: $0) }),
            ("restart-at", { .restart(at: $0) }),
        ]
        for (key, kind) in offsets {
            if let at = reader.byteCount(key, in: 0...(64 << 20), .optional) {
                kinds.append(kind(at.bytes))
            }
        }
        if let number = reader.integer("loses-ack", in: 1...1_000_000, .optional) {
            kinds.append(.ackLost(number))
        }
        let switches: [(String, ESPPlan.Fault.Kind)] = [
            ("refuses-start", .refusesStart), ("fails-silently", .failsSilently),
            ("rolls-back", .rollsBack), ("never-returns", .neverReturns),
            ("connect-fails", .connectFails),
        ]
        for (key, kind) in switches where reader.boolean(key, default: false) {
            kinds.append(kind)
        }
        reader.finish()
        guard kinds.count == 1 else {
            diagnostics.error(
                node.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {link-lost-at: 20KiB}`"
            )
            return nil
        }
        return ESPPlan.Fault(kinds[0], times: times)
    }
}
