import Base
import Radio
import Simulation

extension PlanReader {
    /// Reads an item of family `comodule`, which may describe many modules.
    mutating func comoduleModules() -> [ModulePlan] {
        var plan: ModulePlan = begin(
            "a Comodule serial has 16 hex digits",
            hint: "for example \"00a0000000000001\", in quotes"
        ) { $0.utf8.count == 16 && Hex.bytes($0) != nil }
        plan.name = reader.text("name", default: plan.name)
        let key = hex(
            "key",
            plan.profile?.authentication == AuthenticationForm.none ? .optional : .required,
            count: 1...20,
            "a simulated module's key is 1 to 20 bytes in hex",
            hint: "invent one: up to 40 hex digits, in quotes"
        )
        plan.key = Array(((key ?? []) + [UInt8](repeating: 0, count: 20)).prefix(20))
        plan.firmwareType = UInt16(reader.integer("type", in: 0...65_535, default: 0))
        plan.firmwareVariant = UInt16(reader.integer("variant", in: 0...65_535, default: 0))
        plan.version = version(default: plan.version)
        plan.primaryVersion = version("primary-version", default: plan.primaryVersion)
        plan.stateOfCharge = UInt8(reader.integer("state-of-charge", in: 0...100, default: 80))
        plan.speedTenths = UInt16(reader.integer("speed", in: 0...300, default: 0) * 10)
        duration("restart-time", &plan.restartTime)
        duration("activation-time", &plan.activationTime)
        duration("erase-time", &plan.eraseTime)
        plan.keepsProgress = reader.boolean("keeps-progress", default: true)
        plan.bootloaderVersion = version("bootloader-version", default: plan.bootloaderVersion)
        plan.external1Version = version("external-1-version", default: plan.external1Version)
        plan.external2Version = version("external-2-version", default: plan.external2Version)
        duration("handover-time", &plan.handoverTime)
        let pool = reader.integer("packet-pool", in: 0...1_000, default: 0)
        plan.packetPool = pool > 0 ? pool : nil
        duration("page-write-time", &plan.pageWriteTime)
        plan.isBonded = reader.boolean("bonded", default: false)
        plan.bond = AirSecurity.Plan.read(&reader, diagnostics)
        plan.isNameless = reader.boolean("nameless-bootloader", default: false)
        plan.publicKey = DepotFile.publicKey(&reader, diagnostics)
        plan.preventsDowngrade = reader.boolean("prevents-downgrade", default: false)
        readVehicle(into: &plan.vehicle)
        return series(
            of: plan,
            "several modules need a serial of 16 hex digits",
            hint: "give each an item of its own"
        ) { plan, step in
            guard plan.serial.text.utf8.count == 16,
                let first = UInt64(plan.serial.text, radix: 16)
            else { return nil }
            return Serial(bytes: (first &+ UInt64(step)).bigBytes)
        }
    }

    /// Reads the initial settings of a simulated module's vehicle.
    private mutating func readVehicle(into vehicle: inout VehicleSettings) {
        enum Lights: String, CaseIterable { case disabled, enabled, blinking }
        if let lights = reader.choice("lights", Lights.self, .optional) {
            vehicle.lights = UInt8(Lights.allCases.firstIndex(of: lights) ?? 0)
        }
        vehicle.assist = UInt8(reader.integer("assist", in: 0...255, default: 0))
        vehicle.mode = UInt8(reader.integer("mode", in: 0...255, default: 0))
        vehicle.temperature = Int8(reader.integer("temperature", in: -128...127, default: 21))
        vehicle.odometerMetres = UInt32(
            reader.integer("odometer", in: 0...4_000_000, default: 1_234) * 1_000
        )
    }
}

extension ModulePlan.Kind {
    package static func read(_ reader: inout FaultReader<Self>) {
        reader.cuts()
        reader.bytes([
            "drops-packet-at": { .dropPacket(at: $0) },
            "wrong-checksum-from": { .wrongChecksum(from: $0) },
            "wrong-offset-from": { .wrongOffset(from: $0) },
            "restarts-in-erase-at": { .restartInErase(at: $0) },
        ])
        reader.numbers([
            "loses-notification": { .loseNotification($0) },
            "repeats-notification": { .repeatNotification($0) },
        ])
        reader.numbers(in: 1...100_000, ["storm": { .storm(perSecond: $0) }])
        let period = reader.reader.duration(
            "period",
            in: .milliseconds(200)...(.seconds(600)),
            default: .seconds(6)
        )
        reader.durations([
            "reverts-after": { .revert(after: $0) },
            "ongoing-for": { .flap(total: $0, period: period) },
        ])
        reader.durations(
            in: .milliseconds(1)...(.seconds(3_600)),
            ["link-lost-after": { .linkLostAfter($0) }, "answers-after": { .slow($0) }]
        )
        reader.choices([
            "link-lost-in": { .linkLostIn($0) }, "silent-in": { .silentIn($0) },
        ])
        if let text = reader.reader.text("lacks", .optional) {
            if text.utf8.count == 4, let short = UInt16(text, radix: 16) {
                reader.kinds.append(.lacks(short))
            } else {
                reader.reader.diagnostics.error(
                    reader.reader.place(of: "lacks"),
                    "a characteristic is four hex digits here",
                    hint: "as in `lacks: \"2556\"`"
                )
            }
        }
        reader.flags([
            "refuses-init": .refuseInit, "refuses-bootloader": .refuseBootloader,
            "returns-unchanged": .returnUnchanged, "never-returns": .neverReturn,
            "restarts-after-return": .restartAfterReturn, "address-changes": .addressChanges,
            "flash-full": .flashFull, "refuses-boot": .refuseBoot, "wrong-record": .wrongRecord,
            "garbage": .garbage, "refuses-key": .refuseKey,
            "refuses-key-change": .refuseKeyChange, "refuses-bond": .refuseBond,
            "ignores-writes": .ignoresWrites, "impostor": .impostor,
        ])
    }
}
