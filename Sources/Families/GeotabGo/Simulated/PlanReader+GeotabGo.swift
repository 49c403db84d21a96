import Base
import Simulation

extension PlanReader {
    /// Moduli in hex, at most two: a device can hold no more.
    static func tenantKeys(
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

    /// Reads an item of family `geotab-go`, which may describe many devices with their vehicles;
    /// `tenants` are the keys for the whole depot.
    mutating func goDevices(tenants: [[UInt8]]) -> [GOPlan] {
        let count = reader.integer("count", in: 1...100_000, default: 1)
        let serial = serial(
            "a serial is 1 to 64 visible characters",
            hint: "for example G9E4217F00A1"
        )
        let hardware = reader.integer("hardware-id", in: 1...Int(UInt32.max), .required)
        var plan = GOPlan(serial: serial, hardwareID: UInt32(hardware ?? 0))
        let own = Self.tenantKeys(&reader, diagnostics)
        plan.tenants = reader.has("tenant-keys") ? own : tenants
        plan.isInReach = !reader.boolean("out-of-reach", default: false)
        reader.read("reaction-time", into: &plan.reactionTime)
        reader.read("operation-time", into: &plan.operationTime)
        let offset = reader.duration("clock-ahead", default: .zero)
        let behind = reader.duration("clock-behind", default: .zero)
        plan.clockOffset =
            reader.boolean("clock-unset", default: false) ? nil : offset - behind
        plan.lossChance = reader.percent("link-loss", .optional)?.hundredths ?? 0
        reader.read("stray-centrals", in: 0...8, into: &plan.strayCentrals)
        plan.impostor = reader.choice("impostor", GOPlan.Impostor.self, .optional)
        plan.vehicle = goVehicle()
        let plans = finish(plan, times: 1...100_000)
        return hardware == nil ? [] : plans.flatMap { series(of: $0, count: count) }
    }

    private mutating func goVehicle() -> GOPlan.Vehicle {
        var vehicle = GOPlan.Vehicle()
        guard var reader = reader.reader("vehicle", as: "a vehicle", .optional) else {
            return vehicle
        }
        reader.read("ignition", into: &vehicle.isIgnitionOn)
        reader.read("locked", into: &vehicle.isLocked)
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
                    reader.place,
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
}

extension GOPlan.Kind {
    package static var example: String { "nack: 4" }

    package static func read(_ reader: inout FaultReader<Self>) {
        let ids = 0...Int(UInt32.max)
        let value = UInt32(reader.reader.integer("value", in: ids, default: 1))
        reader.flags([
            "no-handshake": .noHandshake, "no-handshake-ack": .noHandshakeAcknowledgement,
            "no-vehicle-data": .noVehicleData, "challenge-early": .challengeEarly,
            "wrong-checksum": .wrongChecksum, "no-challenge": .noChallenge,
            "no-ack": .noAcknowledgement, "no-result": .noResult,
            "fails-silently": .failsSilently,
        ])
        reader.choices([
            "handshake-again-in": { .secondHandshake(in: $0) },
            "no-reply-in": { .noReply(in: $0) }, "rejects-in": { .rejects(in: $0) },
            "disconnect-in": { .disconnect(in: $0) },
        ])
        reader.numbers(in: 0...512, ["challenge-length": { .challengeLength($0) }])
        reader.numbers(in: 1...255, ["nack": { .nack(UInt8($0)) }])
        reader.numbers(in: ids, ["status": { .status(id: UInt32($0), value: value) }])
        reader.durations(["late-result": { .lateResult($0) }])
    }
}
