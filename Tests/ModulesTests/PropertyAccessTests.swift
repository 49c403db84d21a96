import Base
import Families
import Radio
import Simulation
import Testing

/// Properties read, written and watched on a simulated module.
@Suite struct PropertyAccessTests {
    @Test func `each readable property of the generic profile has the module's value`() throws {
        let plan = ModuleBench.module {
            $0.stateOfCharge = 73
            $0.speedTenths = 253
            $0.vehicle.lights = 2
            $0.vehicle.temperature = -7
        }
        let readings = try ModuleBench([plan]).run { bench in
            try await bench.properties().readAll()
        }
        let texts = Dictionary(uniqueKeysWithValues: readings.map { ($0.name, $0.value.text) })
        #expect(
            texts == [
                "state_of_charge": "73", "battery_voltage": "36", "battery_temperature": "-7",
                "speed": "25.3", "odometer": "1234.567", "assist": "0", "walk": "disabled",
                "lights": "blinking", "mode": "0", "motor_serial": "0x4d53303030303031",
                "label": "0x00000000", "speed_limit": "25",
            ]
        )
    }

    @Test(arguments: [
        ("lights", "enabled"), ("assist", "3"), ("mode", "2"), ("label", "0x0badcafe"),
        ("speed_limit", "20.5"), ("speed_limit", "45"),
    ])
    func `what is written is what is read back`(name: String, literal: String) throws {
        let found = try ModuleBench([ModuleBench.module()]).run { bench in
            let properties = try await bench.properties()
            let value = try genericProfile.value(of: literal, for: name)
            let back = try await properties.write(value, to: name)
            #expect(try await properties.read(name) == back)
            return back
        }
        #expect(found.text == literal)
    }

    @Test func `what shares a command record stays as it was`() throws {
        let plan = ModuleBench.module {
            $0.vehicle.assist = 3
            $0.vehicle.mode = 2
        }
        let settings = try ModuleBench([plan]).run { bench in
            let properties = try await bench.properties()
            try await properties.write(.state("enabled"), to: "lights")
            try await properties.write(.number(30), to: "speed_limit")
            return await bench.settings()
        }
        #expect(settings.lights == 1)
        #expect(settings.assist == 3)
        #expect(settings.mode == 2)
        #expect(settings.label == [0, 0, 0, 0])
        #expect(settings.speedLimitTenths == 300)
    }

    @Test func `a value outside the known states is kept and written back untouched`() throws {
        let plan = ModuleBench.module { $0.vehicle.lights = 9 }
        try ModuleBench([plan]).run { bench in
            let properties = try await bench.properties()
            #expect(try await properties.read("lights") == .unknownState(9))
            try await properties.write(.number(1), to: "assist")
            #expect(await bench.settings().lights == 9)
            #expect(
                try genericProfile.test("lights", .equal, "unknown").holds(for: .unknownState(9))
            )
            #expect(
                try genericProfile.test("lights", .equal, "unknown(9)").holds(for: .unknownState(9))
            )
            #expect(
                try !genericProfile.test("lights", .equal, "enabled").holds(for: .unknownState(9))
            )
        }
    }

    @Test func `a property that can only be written is written`() throws {
        let settings = try ModuleBench([ModuleBench.module()]).run { bench in
            let properties = try await bench.properties()
            try await properties.write(.number(1_800_000_000), to: "clock")
            await #expect(throws: PropertyReadError.propertyWriteOnly("clock")) {
                try await properties.read("clock")
            }
            return await bench.settings()
        }
        #expect(settings.clock == 1_800_000_000)
        #expect(settings.clockZone == 0)
    }

    @Test func `changes are told of by name and only when something changed`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let properties = try await bench.properties()
            _ = try await properties.readAll()
            let soon = bench.time.now.advanced(by: .seconds(5))
            #expect(try await properties.changes(before: soon).isEmpty)
            await bench.set {
                $0.lights = 1
                $0.assist = 4
            }
            let later = bench.time.now.advanced(by: .seconds(5))
            let changes = try await properties.changes(before: later)
            #expect(changes.map(\.name) == ["assist", "lights"])
            #expect(changes.map(\.value) == [.number(4), .state("enabled")])
        }
    }

    @Test func `waiting ends as soon as all conditions hold`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let properties = try await bench.properties()
            let tests = [
                try genericProfile.test("lights", .equal, "enabled"),
                try genericProfile.test("assist", .atLeast, "2"),
            ]
            let began = bench.time.now
            let early = try await properties.wait(
                for: tests,
                before: began.advanced(by: .seconds(3)),
                by: bench.time
            )
            #expect(early.map(\.name) == ["lights", "assist"])
            #expect(began.duration(to: bench.time.now) >= .seconds(3))
            async let late = properties.wait(
                for: tests,
                before: bench.time.now.advanced(by: .seconds(60)),
                by: bench.time
            )
            await bench.time.sleep(for: .seconds(10), "somebody to turn knobs")
            await bench.set {
                $0.lights = 1
                $0.assist = 2
            }
            #expect(try await late.isEmpty)
            #expect(began.duration(to: bench.time.now) < .seconds(20))
        }
    }

    // MARK: Failures

    @Test func `a module that does not do as it is told is distinguished`() throws {
        let plan = ModuleBench.faulty(.init(.ignoresWrites))
        try ModuleBench([plan]).run { bench in
            let properties = try await bench.properties()
            await #expect(
                throws: PropertyWriteError.notTaken("lights", found: .state("disabled"))
            ) {
                try await properties.write(.state("enabled"), to: "lights")
            }
        }
    }

    @Test func `a record that another one answers is not taken for it`() throws {
        let plan = ModuleBench.faulty(.init(.wrongRecord, times: 1))
        try ModuleBench([plan]).run { bench in
            let properties = try await bench.properties()
            #expect(try await properties.read("state_of_charge") == .number(80))
        }
        let always = ModuleBench.faulty(.init(.wrongRecord, times: 255))
        try ModuleBench([always]).run { bench in
            let properties = try await bench.properties()
            await #expect(throws: PropertyReadError.missing("state_of_charge")) {
                try await properties.read("state_of_charge")
            }
        }
    }

    @Test func `a frame that is no record is an error of the module`() throws {
        try ModuleBench([ModuleBench.faulty(.init(.garbage))]).run { bench in
            let properties = try await bench.properties()
            await #expect(throws: PropertyReadError.module(.register(.length(3)))) {
                try await properties.read("speed")
            }
            #expect(try await properties.read("speed") == .number(0))
        }
    }

    @Test func `a property that this module lacks is missing`() throws {
        let odd = sure(ByteField(register: 0x0666, offset: 2, length: 1))
        let profile = Profile.make([
            sure(
                PropertySpec(
                    name: "ghost",
                    access: .readOnly,
                    form: .range(sure(RangeForm())),
                    source: odd,
                    target: nil
                )
            )
        ])
        try ModuleBench([ModuleBench.module()]).run { bench in
            let properties = ComoduleProperties(
                client: try await bench.client(),
                profile: profile,
                time: bench.time
            )
            await #expect(throws: PropertyReadError.missing("ghost")) {
                try await properties.read("ghost")
            }
            #expect(try await properties.readAll().isEmpty)
        }
    }

    @Test func `many readers at once each get their own record`() throws {
        let plan = ModuleBench.module { $0.stateOfCharge = 55 }
        try ModuleBench([plan]).run { bench in
            let properties = try await bench.properties()
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        (try? await properties.read("state_of_charge")) == .number(55)
                    }
                    group.addTask { (try? await properties.read("lights")) == .state("disabled") }
                    group.addTask { (try? await properties.read("odometer")) == .number(1234.567) }
                }
                for await isRight in group { #expect(isRight) }
            }
        }
    }
}

extension Profile {
    /// A profile with only these properties.
    static func make(_ properties: [PropertySpec]) -> Profile {
        Profile(
            name: "made",
            family: .comodule,
            title: "made",
            basis: "made",
            advertisement: genericProfile.advertisement,
            gatt: genericProfile.gatt,
            authentication: .challengeResponse,
            properties: properties,
            features: [],
            firmware: []
        )
    }
}
