import Domain
import Simulation
import SourceTree

/// Reads an item of a depot's `modules` that is a GO device with its vehicle.
struct GOReader {
    private var reader: FieldReader
    private let place: Place
    private let tenants: [[UInt8]]
    private let diagnostics: Diagnostics
    private let link: LinkParameters

    init(
        _ node: SourceNode,
        _ link: LinkParameters,
        tenants: [[UInt8]],
        _ diagnostics: Diagnostics
    ) {
        reader = FieldReader(node, diagnostics, as: "a simulated GO device")
        place = node.place
        self.link = link
        self.tenants = tenants
        self.diagnostics = diagnostics
    }

    /// Moduli in hex, at most two: a device can hold no more.
    static func tenants(
        _ reader: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> [[UInt8]] {
        let nodes = reader.list("tenant-keys", .optional, of: "moduli in hex")
        if nodes.count > 2 {
            diagnostics.error(
                reader.place(of: "tenant-keys"),
                "a GO device holds two tenant keys at most, here are \(nodes.count)",
                hint: "leave out those that no token is signed with"
            )
        }
        return nodes.compactMap { node in
            guard let text = node.text(diagnostics) else { return nil }
            guard let bytes = Hex.bytes(text), (256...257).contains(bytes.count) else {
                diagnostics.error(
                    node.place,
                    "a tenant key is the modulus of an RSA key of 2048 bits in hex",
                    hint: "as `openssl rsa -noout -modulus` prints it, in quotes"
                )
                return nil
            }
            return bytes
        }
    }

    mutating func read() -> [GOPlan] {
        _ = reader.family()
        let count = reader.integer("count", in: 1...100_000, default: 1)
        let serial = serial()
        let hardware = reader.integer("hardware-id", in: 1...Int(UInt32.max), .required)
        let id = hardware.flatMap { UInt32(exactly: $0) }
        // Without these two there is no device, but the rest of the item is checked nevertheless.
        var plan = serial.flatMap { serial in id.map { GOPlan(serial: serial, hardwareID: $0) } }
        readRest(into: &plan)
        reader.finish()
        return plan.map { series(of: $0, count: count) } ?? []
    }

    private mutating func readRest(into found: inout GOPlan?) {
        guard var plan = found ?? Serial("none").map({ GOPlan(serial: $0, hardwareID: 0) }) else {
            return
        }
        let own = Self.tenants(&reader, diagnostics)
        plan.tenants = reader.has("tenant-keys") ? own : tenants
        plan.isInReach = !reader.boolean("out-of-reach", default: false)
        plan.reactionTime = reader.duration("reaction-time", default: plan.reactionTime)
        plan.operationTime = reader.duration("operation-time", default: plan.operationTime)
        let offset = reader.duration("clock-ahead", default: .zero)
        let behind = reader.duration("clock-behind", default: .zero)
        plan.clockOffset =
            reader.boolean("clock-unset", default: false) ? nil : offset - behind
        plan.lossChance = reader.percent("link-loss", .optional)?.hundredths ?? 0
        plan.strayCentrals = reader.integer("stray-centrals", in: 0...8, default: 0)
        plan.impostor = reader.choice("impostor", GOPlan.Impostor.self, .optional)
        plan.vehicle = vehicle()
        plan.link = link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: link)
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        if found != nil { found = plan }
    }

    private mutating func serial() -> Serial? {
        guard let text = reader.text("serial") else { return nil }
        guard let serial = Serial(text) else {
            diagnostics.error(
                reader.place(of: "serial"),
                "a serial is 1 to 64 visible characters",
                hint: "for example G9E4217F00A1"
            )
            return nil
        }
        return serial
    }

    private mutating func vehicle() -> GOPlan.Vehicle {
        var vehicle = GOPlan.Vehicle()
        guard var reader = reader.reader("vehicle", as: "a vehicle", .optional) else {
            return vehicle
        }
        vehicle.isIgnitionOn = reader.boolean("ignition", default: false)
        vehicle.isLocked = reader.boolean("locked", default: false)
        if let fuel = reader.percent("fuel", .optional) {
            vehicle.fuel = Float(fuel.hundredths) / 10_000
        }
        if !reader.boolean("has-fuel-reading", default: true) { vehicle.fuel = nil }
        if !reader.boolean("has-position", default: true) { vehicle.position = nil }
        vehicle.reservation = reader.text("reservation", .optional)
        reader.finish()
        return vehicle
    }

    /// The devices whose serials end in a number and whose hardware ids count up.
    private func series(of plan: GOPlan, count: Int) -> [GOPlan] {
        guard count > 1 else { return [plan] }
        return (0..<count).compactMap { step in
            var next = plan
            guard let serial = Serial("\(plan.serial)-\(step + 1)"),
                let id = UInt32(exactly: Int(plan.hardwareID) + step)
            else {
                diagnostics.error(
                    place,
                    "there are no \(count) serials and hardware ids from here on",
                    hint: "begin with smaller ones"
                )
                return nil
            }
            next.serial = serial
            next.hardwareID = id
            return next
        }
    }

    private func fault(_ node: SourceNode) -> GOPlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...100_000, default: 1)
        let value = reader.integer("value", in: 0...Int(UInt32.max), default: 1)
        var kinds: [GOPlan.Fault.Kind] = []
        for (key, kind) in Self.switches where reader.boolean(key, default: false) {
            kinds.append(kind)
        }
        for (key, kind) in Self.phases {
            guard let phase = reader.choice(key, GOPlan.Phase.self, .optional) else { continue }
            kinds.append(kind(phase))
        }
        if reader.has("challenge-length") {
            kinds.append(
                .challengeLength(reader.integer("challenge-length", in: 0...512, default: 31))
            )
        }
        if reader.has("nack") {
            kinds.append(.nack(UInt8(reader.integer("nack", in: 1...255, default: 1))))
        }
        if reader.has("status") {
            let id = reader.integer("status", in: 0...Int(UInt32.max), default: 0)
            kinds.append(.status(id: UInt32(id), value: UInt32(value)))
        }
        if let delay = reader.duration("late-result", .optional) {
            kinds.append(.lateResult(delay))
        }
        reader.finish()
        guard kinds.count == 1 else {
            diagnostics.error(
                node.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {nack: 4}`"
            )
            return nil
        }
        return GOPlan.Fault(kinds[0], times: times)
    }

    private static let switches: [(String, GOPlan.Fault.Kind)] = [
        ("no-handshake", .noHandshake),
        ("no-handshake-ack", .noHandshakeAcknowledgement),
        ("no-vehicle-data", .noVehicleData),
        ("challenge-early", .challengeEarly), ("wrong-checksum", .wrongChecksum),
        ("no-challenge", .noChallenge), ("no-ack", .noAcknowledgement),
        ("no-result", .noResult), ("fails-silently", .failsSilently),
    ]

    private static let phases: [(String, @Sendable (GOPlan.Phase) -> GOPlan.Fault.Kind)] = [
        ("handshake-again-in", { .secondHandshake(in: $0) }),
        ("no-reply-in", { .noReply(in: $0) }), ("rejects-in", { .rejects(in: $0) }),
        ("disconnect-in", { .disconnect(in: $0) }),
    ]
}
