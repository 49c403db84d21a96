import Base
import Families
import Foundation
import Radio
import Simulation
import Testing

/// Modules that a scan shows and modules that a run finds, for generated profiles and depots.
@Suite struct RecogniserTests {
    /// The number of depots; `YARDMASTER_DEPOTS=500` sets a higher one.
    private static let rounds =
        ProcessInfo.processInfo.environment["YARDMASTER_DEPOTS"].flatMap { UInt64($0) } ?? 40

    /// A generated profile, and the serials of modules with it.
    private struct Case {
        let profile: Profile
        let serials: [Serial]

        init(seed: UInt64) throws {
            var random = SplitMix64(seed: seed)
            func hex(_ digits: Int) -> String {
                (0..<digits).map { _ in String(random.below(16), radix: 16) }.joined()
            }
            func uuid() -> String {
                "\(hex(8))-\(hex(4))-\(hex(4))-\(hex(4))-\(hex(12))"
            }
            let family = [Family.comodule, .lrdevice, .mcumgr, .nordic, .esp][random.below(5)]
            let length = 3 + random.below(6)
            let company = hex(4)
            let advertisement: String
            var serials: [Serial] = []
            // Modules of these families have no fixed identity, so a profile may take the serial
            // from anything.
            let isPlain = [.mcumgr, .nordic, .esp].contains(family)
            switch (isPlain, random.below(4)) {
            case (true, 0):
                advertisement = "{service: \(uuid()), serial: {in: name, after: \"T\(hex(2))-\"}}"
                serials = (0..<4).compactMap { _ in Serial("box-" + hex(6)) }
            case (true, 1):
                advertisement = "{name: \"Glider \(hex(2)) *\", serial: {in: address}}"
                serials = []
            case (true, 2):
                let place = "{in: name, after: \"Lamp \"}"
                advertisement = "{company: \"\(company)\", name: \"Lamp *\", serial: \(place)}"
                serials = (0..<4).compactMap { _ in Serial("of_room_" + hex(4)) }
            case (true, _):
                advertisement = "{service: \(uuid()), serial: [{in: name}, {in: address}]}"
                serials = (0..<4).compactMap { _ in Serial("m" + hex(9)) }
            case (_, 0):
                let place = "{in: manufacturer-data, at: \(random.below(4)), length: \(length)}"
                advertisement = "{company: \"\(company)\", serial: \(place)}"
                serials = (0..<4).compactMap { _ in Serial(hex(length * 2)) }
            case (_, 1):
                let place = "{in: manufacturer-data, length: \(length), form: text}"
                advertisement = "{company: \"\(company)\", service: \(uuid()), serial: \(place)}"
                serials = (0..<4).compactMap { _ in Serial(hex(length)) }
            default:
                advertisement = "{service: \(uuid()), serial: {in: name, after: \"Q \"}}"
                serials = (0..<4).compactMap { _ in Serial(hex(8)) }
            }
            let gatt: String
            let authentication: String
            switch family {
            case .comodule:
                gatt = """
                      metrics: {service: \(uuid()), notifier: \(uuid()), register: \(uuid()), \
                    selector: \(uuid())}
                      security: {service: \(uuid()), key: \(uuid()), challenge: \(uuid()), \
                    response: \(uuid()), authenticated: \(uuid())}
                    """
                authentication = "challenge-response"
            case .lrdevice:
                gatt = "  messages: {service: \(uuid()), request: \(uuid()), reply: \(uuid())}"
                authentication = "key-exchange"
            case .nordic:
                gatt = "  dfu: {service: \(uuid()), control-point: \(uuid()), packet: \(uuid())}"
                authentication = "none"
            case .esp:
                gatt = "  ota: {service: \(uuid()), firmware-data: \(uuid()), command: \(uuid())}"
                authentication = "none"
            default:
                gatt = "  management: {service: \(uuid()), smp: \(uuid())}"
                authentication = "none"
            }
            let text = """
                profile: other
                family: \(family.rawValue)
                title: Generated
                known-from: a seed
                advertisement: \(advertisement)
                gatt:
                \(gatt)
                authentication: \(authentication)

                """
            let diagnostics = Diagnostics()
            let read = Profile.parse(Array(text.utf8), file: "p.yaml", diagnostics)
            profile = try #require(read, "\(diagnostics.list) \(text)")
            self.serials = serials
        }

        /// Adds modules of the profile, and one of the family's generic profile.
        func populate(_ world: World) {
            for serial in serials {
                switch profile.family {
                case .comodule:
                    var plan = ModulePlan(serial: serial)
                    plan.profile = profile
                    world.add(plan)
                case .lrdevice:
                    var plan = LRDevicePlan(serial: serial)
                    plan.profile = profile
                    world.add(plan)
                case .nordic:
                    var plan = NordicPlan(serial: serial)
                    plan.profile = profile
                    world.add(plan)
                case .esp:
                    var plan = ESPPlan(serial: serial)
                    plan.profile = profile
                    world.add(plan)
                default:
                    var plan = SMPModulePlan(serial: serial)
                    plan.profile = profile
                    world.add(plan)
                }
            }
            switch profile.family {
            case .comodule: Serial("00a0000000000001").map { world.add(ModulePlan(serial: $0)) }
            case .lrdevice: Serial("c0ffee000001").map { world.add(LRDevicePlan(serial: $0)) }
            case .nordic: Serial("tag-0001").map { world.add(NordicPlan(serial: $0)) }
            case .esp: Serial("esp-0001").map { world.add(ESPPlan(serial: $0)) }
            default:
                Serial("ym-0001").map { world.add(SMPModulePlan(serial: $0)) }
            }
        }
    }

    @Test func `what a scan shows is what a run finds, whatever the profile`() throws {
        for seed in 1...Self.rounds {
            let one = try Case(seed: seed)
            let simulation = Simulation(seed: seed)
            let library = ProfileLibrary.shipped.adding(one.profile)
            let result = try simulation.run { () async -> (Set<String>, Set<String>) in
                await simulation.air.addAdapter("hci0")
                await simulation.air.arrange { one.populate($0) }
                let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
                let time = simulation.time
                let seen = Heard()
                let discovery = Discovery(central: radio, time: time, library: library)
                _ = try? await discovery.scan(for: .lasting(.seconds(20))) {
                    seen.note($0)
                    return false
                }
                // Every profile searches for every serial: each module that it finds must be in the
                // scan.
                var found: Set<String> = []
                let wanted = Set(seen.modules.map(\.serial) + one.serials)
                for profile in [one.profile] + library.all where profile.advertisement != nil {
                    let recogniser = library.recogniser(of: profile)
                    for serial in wanted.sorted() {
                        let heard = try? await radio.withScan(recogniser.filter(for: serial)) {
                            scan throws(RadioError) in
                            try await scan.next(before: time.now.advanced(by: .seconds(10)))
                        }
                        if heard != nil { found.insert("\(profile.family.rawValue) \(serial)") }
                    }
                }
                let shown = seen.modules.map { "\($0.family.rawValue) \($0.serial)" }
                return (Set(shown), found)
            }
            #expect(result.0 == result.1, "seed \(seed): \(one.profile.advertisement as Any)")
            let own = Set(one.serials.map { "\(one.profile.family.rawValue) \($0)" })
            #expect(own.isSubset(of: result.0), "seed \(seed)")
            #expect(result.0.count == own.count + 1, "seed \(seed): \(result.0)")
        }
    }

    @Test func `a name pattern is matched as a whole`() throws {
        let cases: [(String, String, Bool)] = [
            ("Glider *", "Glider 7", true), ("Glider *", "Glider", false),
            ("*7", "Glider 7", true), ("*7", "Glider 78", false), ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false), ("exact", "exact", true), ("exact", "exacter", false),
        ]
        for (pattern, name, isMatch) in cases {
            #expect(
                try #require(NamePattern(pattern)).matches(name) == isMatch,
                "\(pattern) \(name)"
            )
        }
        #expect(NamePattern("*") == nil)
        #expect(NamePattern("") == nil)
    }
}

/// All modules that a scan has shown.
private final class Heard: @unchecked Sendable {
    // A simulation runs one job at a time.
    private(set) var modules: [DiscoveredModule] = []

    func note(_ module: DiscoveredModule) {
        let isKnown = modules.contains {
            $0.serial == module.serial && $0.family == module.family
        }
        if !isKnown { modules.append(module) }
    }
}
