import Domain
import Modules
import Simulation
import SourceTree

/// Reads an item of a depot's `modules` that is a device of family `lrdevice`.
struct LRDeviceReader {
    private var reader: FieldReader
    private let link: LinkParameters
    private let item: DepotItem
    private let diagnostics: Diagnostics

    init(_ item: DepotItem) {
        reader = FieldReader(item.node, item.diagnostics, as: "a simulated lock")
        link = item.link
        self.item = item
        diagnostics = item.diagnostics
    }

    mutating func read() -> LRDevicePlan? {
        _ = reader.family()
        let profile = item.profile(of: .lrdevice, &reader)
        let serial = serial(profile)
        var plan = serial.map { LRDevicePlan(serial: $0) }
        let name = reader.text("name", default: plan?.name ?? "SmartLock")
        let key = key()
        let password = reader.text("password", .optional)
        let isUnlocked = reader.boolean("unlocked", default: false)
        let autoLock = reader.integer("auto-lock", in: 0...255, .optional)
        let networks = reader.list("networks", .optional, of: "names")
            .compactMap { $0.text(diagnostics) }
        let code = reader.text("guest-code", .optional)
        let id = reader.text("guest-id", .optional)
        let signal = reader.integer("signal", in: -120...0, default: -60)
        let isAway = reader.boolean("out-of-reach", default: false)
        let interval = reader.duration(
            "advertising-interval",
            in: .milliseconds(20)...(.seconds(11)),
            default: .milliseconds(250)
        )
        let answerTime = reader.duration("answer-time", default: .milliseconds(20))
        var own = link
        if let field = reader.reader("link", as: "a link", .optional) {
            own = DepotFile.read(link: field, over: link)
        }
        let faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        reader.finish()
        plan?.profile = profile
        plan?.name = name
        plan?.key = key
        plan?.password = password.map { Array($0.utf8) }
        plan?.state = isUnlocked ? .unlocked : .locked
        plan?.autoLock = autoLock.map { UInt8($0) }
        plan?.networks = networks
        if let code, let id { plan?.guest = LRDevicePlan.Guest(code: code, id: id) }
        plan?.signal = isAway ? nil : signal
        plan?.advertisingInterval = interval
        plan?.answerTime = answerTime
        plan?.link = own
        plan?.faults = faults
        return plan
    }

    private mutating func serial(_ profile: Profile?) -> Serial? {
        guard let text = reader.text("serial") else { return nil }
        // Other profiles have serials of other forms.
        if profile != nil, let serial = Serial(text) { return serial }
        guard text.utf8.count == 12, Hex.bytes(text) != nil else {
            diagnostics.error(
                reader.place(of: "serial"),
                "a lock's serial has 12 hex digits",
                hint: "for example \"0a0b0c0d0e0f\", in quotes"
            )
            return nil
        }
        return Serial(text)
    }

    private mutating func key() -> [UInt8]? {
        guard let text = reader.text("key", .optional) else { return nil }
        guard let bytes = Hex.bytes(text), bytes.count == 32 else {
            diagnostics.error(
                reader.place(of: "key"),
                "a simulated lock's key is 32 bytes in hex",
                hint: "invent one: 64 hex digits, in quotes"
            )
            return nil
        }
        return bytes
    }

    private func fault(_ node: SourceNode) -> LRDevicePlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...255, default: 1)
        var kinds: [LRDevicePlan.Fault.Kind] = []
        if let delay = reader.duration("slow", .optional) { kinds.append(.slow(delay)) }
        if let count = reader.integer("storm", in: 1...1_000_000, .optional) {
            kinds.append(.storm(count))
        }
        for (key, kind) in Self.switches where reader.boolean(key, default: false) {
            kinds.append(kind)
        }
        reader.finish()
        guard kinds.count == 1 else {
            diagnostics.error(
                node.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {silent: true}`"
            )
            return nil
        }
        return LRDevicePlan.Fault(kinds[0], times: times)
    }

    private static let switches: [(String, LRDevicePlan.Fault.Kind)] = [
        ("silent", .silent), ("wrong-kind", .wrongKind), ("garbage", .garbage),
        ("weak-key", .weakKey), ("link-lost", .linkLost), ("connect-fails", .connectFails),
        ("wants-bond", .wantsBond),
    ]
}
