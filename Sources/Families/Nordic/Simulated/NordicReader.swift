import Domain
import Modules
import Simulation
import SourceTree

/// Reads an item of a depot's `modules` that is of family `nordic`; one item may describe many
/// devices.
struct NordicReader {
    private var reader: FieldReader
    private let item: DepotItem
    private let diagnostics: Diagnostics

    init(_ item: DepotItem) {
        reader = FieldReader(item.node, item.diagnostics, as: "a simulated device")
        self.item = item
        diagnostics = item.diagnostics
    }

    mutating func read() -> [NordicPlan] {
        _ = reader.family()
        let profile = item.profile(of: .nordic, &reader)
        let serial = reader.text("serial").flatMap { Serial($0) }
        if serial == nil, reader.has("serial") {
            diagnostics.error(
                reader.place(of: "serial"),
                "a serial is 1 to 64 visible characters without spaces",
                hint: "it is the name or the address that the device advertises, such as tag-0001"
            )
        }
        // The rest is read even without a serial, so that all faults are reported together.
        guard let stand = serial ?? Serial("none") else { return [] }
        var plan = NordicPlan(serial: stand)
        plan.bootloader = reader.choice("bootloader", default: NordicPlan.Bootloader.secure)
        // The shipped profiles are the generic ones of the two bootloaders.
        let isShipped = profile.map { $0.source == nil } ?? true
        if let profile, NordicBootloader.isLegacy(profile) { plan.bootloader = .legacy }
        plan.profile = isShipped ? nil : profile
        if let name = reader.text("name", .optional) { plan.name = name }
        if reader.boolean("nameless", default: false) { plan.name = nil }
        plan.version = version(default: plan.version)
        plan.model = reader.text("model", .optional)
        plan.signal = reader.integer("signal", in: -120...0, default: -60)
        if reader.boolean("out-of-reach", default: false) { plan.signal = nil }
        plan.advertisingInterval = reader.duration(
            "advertising-interval",
            in: .milliseconds(20)...(.seconds(11)),
            default: plan.advertisingInterval
        )
        plan.restartTime = reader.duration("restart-time", default: plan.restartTime)
        plan.activationTime = reader.duration("activation-time", default: plan.activationTime)
        plan.eraseTime = reader.duration("erase-time", default: plan.eraseTime)
        plan.keepsAddress = reader.boolean("keeps-address", default: false)
        plan.link = item.link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: item.link)
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        reader.finish()
        return serial == nil ? [] : [plan]
    }

    private mutating func version(default fallback: FirmwareVersion) -> FirmwareVersion {
        guard let text = reader.text("version", .optional) else { return fallback }
        guard let version = FirmwareVersion(text) else {
            diagnostics.error(
                reader.place(of: "version"),
                "`\(text)` is not a version",
                hint: "write two to four numbers in quotes, as in \"1.2.3\""
            )
            return fallback
        }
        return version
    }

    private func fault(_ node: SourceNode) -> NordicPlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...255, default: 1)
        var kinds: [NordicPlan.Fault.Kind] = []
        let offsets: [(String, (Int) -> NordicPlan.Fault.Kind)] = [
            ("link-lost-at", { .linkLost(at: $0) }), ("silent-at", { .silent(at: $0) }),
            ("restart-at", { .restart(at: $0) }), ("packet-lost-at", { .packetLost(at: $0) }),
        ]
        for (key, kind) in offsets {
            if let at = reader.byteCount(key, in: 0...(64 << 20), .optional) {
                kinds.append(kind(at.bytes))
            }
        }
        if let number = reader.integer("loses-notification", in: 1...1_000_000, .optional) {
            kinds.append(.notificationLost(number))
        }
        let switches: [(String, NordicPlan.Fault.Kind)] = [
            ("refuses-init", .refusesInit), ("ignores-entry", .ignoresEntry),
            ("returns-unchanged", .returnsUnchanged), ("never-returns", .neverReturns),
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
        return NordicPlan.Fault(kinds[0], times: times)
    }
}
