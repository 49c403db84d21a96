import Foundation
import Testing
import VehicleModules

/// Modules of every advertising family, through the same call, in simulated air and over a served
/// bus.
@Suite(.serialized, .timeLimit(.minutes(4))) struct LibraryFamilyTests {
    typealias Air = LibraryBench.Air

    private static let lamp = """
        profile: lamp
        family: mcumgr
        title: A lamp
        known-from: this test
        advertisement: {service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84, serial: {in: name}}
        gatt:
          management:
            service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84
            smp: da2e7828-fbce-4e01-ae9e-261174997c48
        authentication: none
        properties:
          - {name: errors, type: range, access: read-only, read: {statistic: app, entry: errors}}
          - name: rate
            type: range
            access: read-write
            read: {setting: app/rate, bytes: 2}
            write: {setting: app/rate, bytes: 2, limits: [1, 1000]}
          - {name: mode, type: text, access: read-write, read: {file: /lfs1/mode},
             write: {file: /lfs1/mode, bytes: 600}}
          - {name: battery, type: range, access: read-only, unit: percent,
             read: {characteristic: "2a19", service: "180f", bytes: 1}}
        firmware:
          - {part: image, protocol: smp}

        """

    private static let key = String(repeating: "5a", count: 32)

    private static let depot = """
        name: families
        seed: 3
        tenant-keys: ["00\(SampleTokens.tenant)"]
        modules:
          - {serial: LMP-0001, family: mcumgr, version: "1.0.0", statistics: {app: {errors: 4}},
             settings: {app/rate: "0100"}, files: {/lfs1/mode: loud},
             characteristics: [{service: "180f", uuid: "2a19", value: "50"}]}
          - {serial: SEN-0001, family: esp, version: "2.6.0"}
          - {serial: TAG-0001, family: nordic, bootloader: legacy-dfu, version: "1.4.0"}
          - {serial: "5a000000000a", family: lrdevice, name: Gate, key: "\(key)",
             password: opensesame, networks: [yard, office], faults: [{storm: 1, times: 20}]}
          - {serial: TRK-0001, family: mcumgr, version: "1.0.0", pairing: just-works,
             restart-time: 200ms, activation-time: 200ms, erase-time: 2ms}
          - {serial: TRK-0002, family: mcumgr, version: "1.0.0", pairing: passkey,
             passkey: "012345", restart-time: 200ms, activation-time: 200ms, erase-time: 2ms}

        """

    private let bench: LibraryBench

    private static let secret = ModuleSecret(key + ":opensesame")

    init() throws {
        bench = try LibraryBench(Self.depot)
        let folder = bench.program.folder.path + "/profiles"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try bench.program.write("profiles/lamp.yaml", Self.lamp)
    }

    private func on<R: Sendable>(
        _ air: Air,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        try await bench.on(air, profiles: bench.program.folder.path + "/profiles", body)
    }

    @Test(arguments: Air.allCases)
    func `settings, statistics, files and characteristics are properties like any other`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            try await radio.withModule("LMP-0001", family: "mcumgr", profile: "lamp") { module in
                #expect(module.firmware?.secondary == "1.0.0")
                let properties = await module.properties
                #expect(properties.map(\.name) == ["errors", "rate", "mode", "battery"])
                #expect(
                    properties.map(\.value) == [
                        .number(4), .number(1), .state("loud"), .number(80),
                    ]
                )
                #expect(properties[2].kind == .text && properties[3].unit == "percent")
                let values = await module.values(of: "rate")
                let taken = try await module.write(.number(300), to: "rate")
                #expect(taken == .number(300))
                for await value in values where value == .number(300) { break }
                try await module.write(.state("quiet"), to: "mode")
                let mode = try await module.read("mode")
                #expect(mode == .state("quiet"))
                let cases: [(ModuleFailure.Code, String, ModuleValue)] = [
                    (.rangeOutOfBounds, "rate", .number(2_000)),
                    (.propertyNotWritable, "battery", .number(1)),
                    (.propertyNotFound, "rates", .number(1)),
                    (.propertyWrongType, "rate", .state("fast")),
                ]
                for (code, name, value) in cases {
                    let found = await LibraryBench.code {
                        try await module.write(value, to: name)
                    }
                    #expect(found == code, "\(name)")
                }
                let features = await module.features
                #expect(features.isEmpty)
            }
            // The new value is kept for the next link.
            try await radio.withModule("LMP-0001", family: "mcumgr", profile: "lamp") { module in
                let rate = try await module.read("rate")
                #expect(rate == .number(300))
            }
        }
    }

    /// The same profile as values, without its last two properties.
    private static let values: ModuleProfile = [
        "profile": "lamp", "family": "mcumgr", "title": "A lamp", "known-from": "this test",
        "advertisement": [
            "service": "8d53dc1d-1db7-4cd3-868b-8a527460aa84", "serial": ["in": "name"],
        ],
        "gatt": [
            "management": [
                "service": "8d53dc1d-1db7-4cd3-868b-8a527460aa84",
                "smp": "da2e7828-fbce-4e01-ae9e-261174997c48",
            ]
        ],
        "authentication": "none",
        "properties": [
            [
                "name": "errors", "type": "range", "access": "read-only",
                "read": ["statistic": "app", "entry": "errors"],
            ],
            [
                "name": "rate", "type": "range", "access": "read-write",
                "read": ["setting": "app/rate", "bytes": 2],
                "write": ["setting": "app/rate", "bytes": 2, "limits": [1, 1_000], "save": false],
            ],
        ],
        "firmware": [["part": "image", "protocol": "smp"]],
    ]

    @Test(arguments: Air.allCases)
    func `a program brings profiles along as text, as bytes and as values`(
        air: Air
    ) async throws {
        let forms: [(ModuleProfile, Int)] = [
            (ModuleProfile(Self.lamp), 4), (ModuleProfile(bytes: Array(Self.lamp.utf8)), 4),
            (Self.values, 2),
        ]
        for (form, count) in forms {
            try await bench.on(air, models: [form]) { radio in
                try await radio.withModule("LMP-0001", family: "mcumgr", profile: "lamp") { lamp in
                    let properties = await lamp.properties
                    #expect(properties.count == count && properties[0].value == .number(4))
                    let taken = try await lamp.write(.number(300), to: "rate")
                    #expect(taken == .number(300))
                    let code = await LibraryBench.code {
                        try await lamp.write(.number(1_001), to: "rate")
                    }
                    #expect(code == .rangeOutOfBounds)
                }
            }
        }
        // A mistake is told with its place, and nothing begins.
        let wrong: [ModuleProfile] = [
            ["profile": "lamp", "family": "tram"], "profile: [", ModuleProfile(bytes: [0xFF]),
        ]
        for form in wrong {
            let code = await LibraryBench.code {
                try await bench.on(air, models: [form]) { _ in
                    Issue.record("nothing may begin")
                }
            }
            #expect(code == .invalidFile)
        }
    }

    /// A wire that no module answers.
    private struct NoWire: ModuleWire {
        static func open(_ link: ModuleLink, secret: ModuleSecret?) async throws -> NoWire {
            NoWire()
        }

        func read(_ number: UInt16) async throws -> [UInt8]? { nil }
        func write(_ bytes: [UInt8], to number: UInt16) async throws {}
    }

    @Test(arguments: Air.allCases)
    func `a family of a program has a name of its own, and is known only to that program`(
        air: Air
    ) async throws {
        for name in ["mcumgr", "", "Tram", "a/b"] {
            let code = await LibraryBench.code {
                try await bench.on(
                    air,
                    families: [ModuleFamily(name, profiles: [], wire: NoWire.self)]
                ) { _ in Issue.record("nothing may begin") }
            }
            #expect(code == .invalidValue, "\(name)")
        }
        let lamp = Self.lamp.replacing("family: mcumgr", with: "family: tram")
        let tram = ModuleFamily("tram", profiles: [ModuleProfile(lamp)], wire: NoWire.self)
        try await bench.on(air, families: [tram]) { radio in
            let found = try await radio.withDiscovery(profiles: ["tram/lamp"]) { discovery in
                for try await list in discovery.lists where list.count == 3 { return list }
                return []
            }
            #expect(Set(found.map(\.family)) == ["tram"] && found[0].serial == "lmp-0001")
            // A scan tells each family that claims a module.
            let all = try await radio.scan(for: .seconds(20), until: "lmp-0001")
            let claims = all.filter { $0.serial == "lmp-0001" }
            #expect(claims.map(\.family) == ["mcumgr", "tram"])
            // Its modules have the values of SMP too.
            try await radio.withModule(found[0]) { lamp in
                #expect(lamp.firmware?.secondary == "1.0.0")
                let errors = try await lamp.read("errors")
                #expect(errors == .number(4))
            }
        }
        try await bench.on(air) { radio in
            let code = await LibraryBench.code {
                try await radio.withModule("LMP-0001", family: "tram", profile: "lamp") { _ in }
            }
            #expect(code == .invalidValue)
        }
    }

    @Test(arguments: Air.allCases)
    func `modules without properties say what they run`(air: Air) async throws {
        try await on(air) { radio in
            let cases = [
                ("SEN-0001", "esp", "generic", "2.6.0"), ("TAG-0001", "nordic", "legacy", "1.4.0"),
                ("LMP-0001", "mcumgr", "generic", "1.0.0"),
            ]
            for (serial, family, profile, version) in cases {
                try await radio.withModule(serial, family: family, profile: profile) { module in
                    #expect(module.firmware?.secondary == version, "\(family)")
                    guard case .connected(_, serial.lowercased()) = module.state else {
                        Issue.record("\(module.state)")
                        return
                    }
                    let properties = await module.properties
                    #expect(properties.isEmpty)
                    let code = await LibraryBench.code { try await module.read("speed") }
                    #expect(code == .propertyNotFound)
                }
            }
            let code = await LibraryBench.code {
                try await radio.withModule("G9-0001", family: "geotab-go") { _ in }
            }
            #expect(code == .invalidValue)
        }
    }

    @Test(arguments: Air.allCases)
    func `a lock is read by its properties and told by the features of its profile`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let serial = "5a000000000a"
            try await radio.withModule(serial, family: "lrdevice", secret: Self.secret) { lock in
                #expect(lock.firmware == nil)
                let properties = await lock.properties
                #expect(properties.map(\.name) == ["name", "auto-lock", "networks", "lock"])
                #expect(properties.first?.value == .state("Gate"))
                let features = await lock.features
                #expect(features.contains { $0.name == "lock" && $0.isSealed })
                #expect(
                    features.contains {
                        $0.name == "auto-lock" && $0.value == .byte(mayBeOff: true)
                    }
                )
                try await lock.perform("lock", "unlocked")
                let state = try await lock.read("lock")
                #expect(state == .state("unlocked"))
                try await lock.perform("auto-lock", "30")
                let seconds = try await lock.read("auto-lock")
                #expect(seconds == .number(30))
                let codes = [
                    // The profile declares this answer as a refusal.
                    await LibraryBench.code { try await lock.perform("wifi", "nowhere,hidden") },
                    await LibraryBench.code { try await lock.perform("lock", "ajar") },
                    await LibraryBench.code { try await lock.perform("fly") },
                    await LibraryBench.code {
                        try await lock.changeSecret(to: ModuleSecret("11"))
                    },
                ]
                #expect(codes == [.refused, .invalidValue, .propertyNotFound, .invalidPrivateKey])
            }
            // Without its secret a lock can be read, but not opened.
            try await radio.withModule(serial, family: "lrdevice") { lock in
                let state = try await lock.read("lock")
                #expect(state == .state("unlocked"))
                let code = await LibraryBench.code { try await lock.perform("lock", "locked") }
                #expect(code == .invalidPrivateKey)
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `what a lock tells by itself is heard`(air: Air) async throws {
        try await on(air) { radio in
            try await radio.withModule("5a000000000a", family: "lrdevice") { lock in
                let (all, update) = (lock.messages(), ModuleCommand(3, in: 2))
                let updates = lock.messages(of: update)
                // By the script, a notification arrives before the answer.
                let name = try await lock.send(ModuleCommand(2, in: 1))
                #expect(name == Array("Gate".utf8))
                var heard: [ModuleMessage] = []
                for await message in all {
                    heard.append(message)
                    if message.isReply { break }
                }
                #expect(heard.map(\.command) == [update, ModuleCommand(2, in: 1)])
                #expect(heard.map(\.isReply) == [false, true])
                #expect(heard.last?.payload == name)
                for await message in updates {
                    #expect(message == heard.first)
                    break
                }
            }
        }
    }

    /// A feature that is a type of the program: the lock's password, sealed.
    private struct Password: ModuleFeature {
        static let command = ModuleCommand(2, in: 3)
        static let isSealed = true
        let text: String
        var payload: [UInt8] { Array(text.utf8) }
    }

    /// A feature that is sent openly.
    private struct Name: ModuleFeature {
        static let command = ModuleCommand(1, in: 1)
        let text: String
        var payload: [UInt8] { Array(text.utf8) }
    }

    @Test(arguments: Air.allCases)
    func `a program's own features are sent openly or sealed, on the link that has everything`(
        air: Air
    ) async throws {
        let serial = "5a000000000a"
        try await on(air) { radio in
            try await radio.withModule(serial, family: "lrdevice", secret: Self.secret) { lock in
                guard case .connected(_, serial) = lock.state else {
                    Issue.record("\(lock.state)")
                    return
                }
                try await lock.perform(Name(text: "Yard"))
                let name = try await lock.read("name")
                #expect(name == .state("Yard"))
                // The lock accepts it only sealed with its key.
                let open = try await lock.send(Password.command, Array("other".utf8))
                #expect(open == [0])
                let sealed = try await lock.perform(Password(text: "other"))
                #expect(sealed == [1])
                // The connection still has the old password.
                let code = await LibraryBench.code { try await lock.perform("lock", "unlocked") }
                #expect(code == .refused)
            }
            let new = ModuleSecret(Self.key + ":other")
            try await radio.withModule(serial, family: "lrdevice", secret: new) { lock in
                try await lock.perform("lock", "unlocked")
                let state = try await lock.read("lock")
                #expect(state == .state("unlocked"))
            }
            // Without a key nothing can be sealed, and other families have no commands.
            let codes = [
                await LibraryBench.code {
                    try await radio.withModule(serial, family: "lrdevice") { lock in
                        try await lock.perform(Password(text: "third"))
                    }
                },
                await LibraryBench.code {
                    try await radio.withModule("LMP-0001", family: "mcumgr") { lamp in
                        try await lamp.perform(Name(text: "lamp"))
                    }
                },
            ]
            #expect(codes == [.invalidPrivateKey, .invalidValue])
        }
    }

    @Test(arguments: Air.allCases)
    func `a lock whose link is lost is connected to again, with the secret it agreed on`(
        air: Air
    ) async throws {
        let serial = "5a000000000b"
        try bench.program.write(
            "depot.yaml",
            """
            name: again
            modules:
              - {serial: "\(serial)", family: lrdevice, name: Gate,
                 faults: [{slow: 1ms, times: 6}, {link-lost: true}]}

            """
        )
        try await on(air) { radio in
            try await radio.withModule(serial, family: "lrdevice", reconnects: true) { lock in
                let states = lock.states
                // Four answers when it is opened, and two for the secret.
                let secret = try await lock.agreeOnSecret(password: "hidden") { _ in }
                // The next answer is lost with the link.
                let code = await LibraryBench.code { try await lock.send(ModuleCommand(2, in: 1)) }
                #expect(code == .inDoubt)
                var wasLost = false
                for await state in states {
                    if case .connecting = state { wasLost = true }
                    if case .connected = state, wasLost { break }
                }
                try await lock.perform("lock", "unlocked")
                let state = try await lock.read("lock")
                #expect(state == .state("unlocked"))
                #expect(secret.withText { $0.hasSuffix(":hidden") })
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a lock has a user, joins a network, and is put back to its beginning`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            try await radio.withModule("5a000000000a", family: "lrdevice") { lock in
                try await lock.perform("user", "anna")
                try await lock.perform("wifi", "yard,hidden")
                let code = await LibraryBench.code {
                    try await lock.perform("wifi", "nowhere,hidden")
                }
                #expect(code == .refused)
                let heard = try await lock.send(ModuleCommand(2, in: 2))
                #expect(heard == Array("yard\u{1F}office".utf8))
                try await lock.perform("reset")
                let name = try await lock.read("name")
                #expect(name == .state("SmartLock"))
            }
            // The reset has also erased its secret.
            let code = await LibraryBench.code {
                try await radio.withModule(
                    "5a000000000a",
                    family: "lrdevice",
                    secret: Self.secret
                ) { lock in
                    try await lock.perform("lock", "unlocked")
                }
            }
            #expect(code == .refused)
        }
    }

    @Test(arguments: Air.allCases)
    func `a module that wants a bond is bonded once, then read and updated`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let image = try FirmwareImage(
                path: LibraryBench.image("depot-wide/tracker-2.0.0.img"),
                version: "2.0.0"
            )
            var options = FirmwareUpdateOptions()
            options.quiet = .milliseconds(500)
            let cases = try [
                ("TRK-0001", ModuleBond.justWorks()), ("TRK-0002", .passkey("012345")),
            ]
            for (serial, bond) in cases {
                #expect(!"\(bond)".contains("012345"))
                try await radio.withModule(serial, family: "mcumgr", bond: bond) { module in
                    #expect(module.firmware?.secondary == "1.0.0")
                }
                let result = try await radio.update(
                    serial,
                    family: "mcumgr",
                    to: image,
                    bond: bond,
                    options: options
                )
                #expect(result == .updated(to: "2.0.0"), "\(bond)")
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a bond that is missing or wrong is said, and nothing is done`(air: Air) async throws {
        try await on(air) { radio in
            let cases: [(String, ModuleBond?)] = try [
                ("TRK-0001", nil), ("TRK-0002", nil), ("TRK-0002", .passkey("543210")),
            ]
            for (serial, bond) in cases {
                do {
                    try await radio.withModule(serial, family: "mcumgr", bond: bond) { module in
                        _ = try await module.read("rate")
                    }
                    Issue.record("\(serial) was opened")
                } catch let failure as ModuleFailure {
                    #expect(failure.code == .bondingError, "\(serial): \(failure)")
                    #expect(!failure.remedy.isEmpty && !"\(failure)".contains("543210"))
                }
            }
            let code = await LibraryBench.code { try ModuleBond.passkey("12345") }
            #expect(code == .invalidValue)
        }
    }

    @Test(arguments: Air.allCases)
    func `a connected module of another family is updated, and connected to again`(
        air: Air
    ) async throws {
        try bench.program.write(
            "depot.yaml",
            """
            name: again
            modules:
              - {serial: TRK-0003, family: mcumgr, version: "1.0.0", restart-time: 200ms,
                 activation-time: 200ms, erase-time: 2ms}
              - {serial: "5a000000000a", family: lrdevice, name: Gate, faults: [{link-lost: true}]}

            """
        )
        try await on(air) { radio in
            let image = try FirmwareImage(
                path: LibraryBench.image("depot-wide/tracker-2.0.0.img"),
                version: "2.0.0"
            )
            var options = FirmwareUpdateOptions()
            options.quiet = .milliseconds(500)
            let wanted = options
            try await radio.withModule("TRK-0003", family: "mcumgr") { module in
                let result = try await module.withUpdate(to: image, options: wanted) { update in
                    try await update.result()
                }
                #expect(result == .updated(to: "2.0.0"))
                #expect(module.firmware?.secondary == "2.0.0")
            }
            // A link that is lost during the handshake is made again.
            try await radio.withModule("5a000000000a", family: "lrdevice") { lock in
                let name = try await lock.read("name")
                #expect(name == .state("Gate"))
            }
        }
    }
}
