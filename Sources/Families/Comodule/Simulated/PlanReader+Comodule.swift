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
        reader.read("type", in: 0...65_535, into: &plan.firmwareType)
        reader.read("variant", in: 0...65_535, into: &plan.firmwareVariant)
        version(into: &plan.version)
        version("primary-version", into: &plan.primaryVersion)
        reader.read("state-of-charge", in: 0...100, into: &plan.stateOfCharge)
        plan.speedTenths = UInt16(reader.integer("speed", in: 0...300, default: 0) * 10)
        reader.read("restart-time", into: &plan.restartTime)
        reader.read("activation-time", into: &plan.activationTime)
        reader.read("erase-time", into: &plan.eraseTime)
        reader.read("keeps-progress", into: &plan.keepsProgress)
        version("bootloader-version", into: &plan.bootloaderVersion)
        version("external-1-version", into: &plan.external1Version)
        version("external-2-version", into: &plan.external2Version)
        reader.read("handover-time", into: &plan.handoverTime)
        let pool = reader.integer("packet-pool", in: 0...1_000, default: 0)
        plan.packetPool = pool > 0 ? pool : nil
        reader.read("page-write-time", into: &plan.pageWriteTime)
        reader.read("bonded", into: &plan.isBonded)
        plan.bond = AirSecurity.Plan.read(&reader, diagnostics)
        reader.read("nameless-bootloader", into: &plan.isNameless)
        plan.publicKey = DepotFile.publicKey(&reader, diagnostics)
        reader.read("prevents-downgrade", into: &plan.preventsDowngrade)
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
        reader.read("assist", in: 0...255, into: &vehicle.assist)
        reader.read("mode", in: 0...255, into: &vehicle.mode)
        reader.read("temperature", in: -128...127, into: &vehicle.temperature)
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
