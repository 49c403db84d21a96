import Foundation
import Synchronization
import Testing
import VehicleModules

/// States, properties and the log that a program follows, in simulated air and over a served bus.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LibraryFollowTests {
    typealias Air = LibraryBench.Air

    private static let depot = """
        name: follow
        seed: 3
        modules:
          - {serial: "00a0000000000001", key: "11", type: 17, version: "4.11.3"}
          - {serial: "00a0000000000002", key: "11", type: 17, version: "4.11.3",
             faults: [{link-lost-in: key}]}
          - {serial: "00a0000000000003", key: "11", type: 17, version: "4.11.3",
             faults: [{link-lost-after: 5s}]}

        """

    private static let (first, secret) = ("00a0000000000001", ModuleSecret("11"))

    private let bench: LibraryBench

    init() throws { bench = try LibraryBench(Self.depot) }

    @Test(arguments: Air.allCases)
    func `a connection is followed from its first moment`(air: Air) async throws {
        try await bench.on(air) { radio in
            let seen = try await radio.withConnection(Self.first, secret: Self.secret) {
                connection in
                var seen: [ModuleConnectionState] = []
                for await state in connection.states {
                    seen.append(state)
                    if case .connected = state { break }
                }
                let charge = try await connection.connected().read("state_of_charge")
                #expect(charge == .number(80))
                await connection.disconnect()
                #expect(connection.state == .disconnected(nil))
                return seen
            }
            let steps = seen.compactMap { state -> ModuleConnectionState.Connecting? in
                guard case .connecting(_, Self.first, let step) = state else { return nil }
                return step
            }
            #expect(steps.contains(.searching) && steps.contains(.handshaking))
            #expect(seen.last == .connected(name: "COMODULE", serial: Self.first))
        }
    }

    @Test(arguments: Air.allCases)
    func `a connection that ends says why`(air: Air) async throws {
        try await bench.on(air) { radio in
            let cases: [(String, String, ModuleFailure.Code)] = [
                (Self.first, "33", .invalidPrivateKey), (Self.first, "zz", .invalidPrivateKey),
                ("00a0000000000009", "11", .timedOut),
            ]
            for (serial, secret, code) in cases {
                try await radio.withConnection(
                    serial,
                    secret: ModuleSecret(secret),
                    timeout: code == .timedOut ? .seconds(1) : .seconds(30)
                ) { connection in
                    let found = await LibraryBench.code { try await connection.connected() }
                    #expect(found == code)
                    guard case .disconnected(let why?) = connection.state else {
                        Issue.record("\(connection.state)")
                        return
                    }
                    #expect(why.code == code)
                }
            }
            try await radio.withModule("00a0000000000003", secret: Self.secret) { module in
                for await state in module.states {
                    guard case .disconnected(let why) = state else { continue }
                    #expect(why?.code == .moduleNotConnected)
                    break
                }
                let properties = await module.properties
                #expect(properties.isEmpty)
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `who leaves before it is connected leaves nothing behind`(air: Air) async throws {
        try await bench.on(air) { radio in
            try await radio.withConnection("00a0000000000009", secret: Self.secret) { connection in
                for await state in connection.states {
                    if case .connecting(_, _, .searching) = state { break }
                }
            }
            try await radio.withModule(Self.first, secret: Self.secret) { _ in }
        }
    }

    @Test(arguments: Air.allCases)
    func `changes of all properties come as one stream, which says what it dropped`(
        air: Air
    ) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(Self.first, secret: Self.secret) { module in
                let (all, few) = (module.changes(), module.changes(keeping: 3))
                for number in 1...10 {
                    let lights = number.isMultiple(of: 2) ? "disabled" : "enabled"
                    try await module.write(.state(lights), to: "lights")
                }
                try await module.write(.number(3), to: "assist")
                var heard: [PropertyChange] = []
                for await change in all {
                    heard.append(change)
                    if change.name == "assist" { break }
                }
                #expect(heard.count == 11 && heard.allSatisfy { $0.missed == 0 })
                #expect(heard.count { $0.value == .state("enabled") } == 5)
                var rest: [PropertyChange] = []
                for await change in few {
                    rest.append(change)
                    if change.name == "assist" { break }
                }
                #expect(rest.map(\.missed) == [8, 0, 0])
                for await list in module.propertyLists {
                    #expect(list.count == 14)
                    #expect(list.first { $0.name == "lights" }?.value == .state("disabled"))
                    #expect(list.first { $0.name == "assist" }?.value == .number(3))
                    break
                }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `every kind of value is written, and every mistake has its code`(air: Air) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(Self.first, secret: Self.secret) { module in
                let values: [(String, ModuleValue)] = [
                    ("assist", .number(2)), ("speed_limit", .number(25.5)),
                    ("lights", .state("blinking")), ("label", .bytes([1, 2, 3, 4])),
                    ("clock", .number(1_700_000_000)),
                ]
                for (name, value) in values {
                    let taken = try await module.write(value, to: name)
                    #expect(taken == value, "\(name)")
                }
                let mistakes: [(String, ModuleValue, ModuleFailure.Code)] = [
                    ("assit", .number(2), .propertyNotFound),
                    ("speed", .number(2), .propertyNotWritable),
                    ("assist", .state("two"), .propertyWrongType),
                    ("assist", .number(5), .rangeOutOfBounds),
                    ("speed_limit", .number(25.25), .invalidWriteStep),
                    ("lights", .state("purple"), .unknownState),
                    ("label", .bytes([1, 2, 3]), .valueBytesInvalidSize),
                ]
                for (name, value, code) in mistakes {
                    let found = await LibraryBench.code {
                        try await module.write(value, to: name)
                    }
                    #expect(found == code, "\(name)")
                }
                let unread = await LibraryBench.code { try await module.read("clock") }
                #expect(unread == .propertyNotReadable)
                for await firmware in module.firmwareInfos {
                    #expect(firmware?.secondary == "4.11.3" && firmware?.type == 17)
                    #expect(firmware?.externalComponents.count == 2)
                    break
                }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a property comes with its kind, unit, limits and access, and follows its value`(
        air: Air
    ) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(Self.first, secret: Self.secret) { module in
                let assist = try await module.property("assist")
                #expect(assist.kind == .range(writable: 0...4, step: 1) && assist.limits == 0...4)
                #expect(assist.isReadable && assist.isWritable && assist.variant == nil)
                let charge = try await module.property("state_of_charge")
                #expect(charge.unit == "percent" && charge.value == .number(80))
                // Another kind is a property with another kind; an unknown one has its code.
                let lights = try await module.property("lights")
                #expect(lights.kind == .states(["disabled", "enabled", "blinking"]))
                let unknown = [
                    await LibraryBench.code { try await module.property("lihgts") },
                    await LibraryBench.code { try await module.properties(named: "lihgts") },
                ]
                #expect(unknown == [.propertyNotFound, .propertyNotFound])
                let followed = try await module.properties(named: "assist")
                try await module.write(.number(3), to: "assist")
                for await property in followed where property?.value == .number(3) {
                    #expect(property?.kind == assist.kind)
                    break
                }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a range, states and bytes are followed as what they are`(air: Air) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(Self.first, secret: Self.secret) { module in
                let numbers = try await module.rangeValues(of: "assist")
                let states = try await module.stateValues(of: "lights")
                let bytes = try await module.rawValues(of: "label")
                try await module.write(.number(3), to: "assist")
                try await module.write(.state("enabled"), to: "lights")
                try await module.write(.bytes([1, 2, 3, 4]), to: "label")
                for await number in numbers where number == 3 { break }
                for await state in states where state == "enabled" { break }
                for await bytes in bytes where bytes == [1, 2, 3, 4] { break }
                let codes = [
                    await LibraryBench.code { try await module.rangeValues(of: "lights") },
                    await LibraryBench.code { try await module.stateValues(of: "assist") },
                    await LibraryBench.code { try await module.rawValues(of: "speed") },
                    await LibraryBench.code { try await module.rawValues(of: "labl") },
                ]
                #expect(codes.dropLast() == Array(repeating: .propertyWrongType, count: 3)[...])
                #expect(codes.last == .propertyNotFound)
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a lost link is made again where that was asked for`(air: Air) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(
                "00a0000000000003",
                secret: Self.secret,
                reconnects: true
            ) { module in
                var isLost = false
                for await state in module.states {
                    guard case .connected = state else {
                        isLost = true
                        continue
                    }
                    if isLost { break }
                }
                let charge = try await module.read("state_of_charge")
                #expect(charge == .number(80))
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a link that is lost in a change of the secret leaves no doubt which one is right`(
        air: Air
    ) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule("00a0000000000002", secret: Self.secret) { module in
                radio.keepLogs(of: [.warning])
                let isTaken = try await module.changeSecret(to: ModuleSecret("22"))
                #expect(isTaken)
                #expect(radio.logs.contains { $0.contains("may have another key") })
                #expect(!radio.logs.contains { $0.contains("key, 22") })
                let charge = try await module.read("state_of_charge")
                #expect(charge == .number(80))
            }
            try await radio.withModule("00a0000000000002", secret: ModuleSecret("22")) { _ in }
        }
    }

    @Test(arguments: Air.allCases)
    func `the log has levels, and goes to a sink of the program's own`(air: Air) async throws {
        let sink = Mutex<[ModuleLogEntry]>([])
        let take: @Sendable (ModuleLogEntry) -> Void = { entry in
            sink.withLock { $0.append(entry) }
        }
        try await bench.on(air) { radio in
            radio.log(to: take)
            radio.keepLogs(of: [.error, .warning])
            try await radio.withModule(Self.first, secret: Self.secret) { _ in }
            #expect(radio.logEntries.isEmpty)
            radio.keepLogs(of: Set(ModuleLogEntry.Level.allCases))
            try await radio.withModule(Self.first, secret: Self.secret) { _ in }
            _ = await LibraryBench.code {
                try await radio.withModule(Self.first, secret: ModuleSecret("deadbeef")) { _ in }
            }
            let entries = radio.logEntries
            #expect(entries.contains { $0.level == .info && $0.text.contains("connected to") })
            #expect(entries.contains { $0.level == .error && $0.text.contains(Self.first) })
            #expect(!entries.contains { $0.description.contains("deadbeef") })
            #expect(sink.withLock { $0 } == entries)
            #expect(radio.logs == entries.map(\.description))
            radio.log(to: nil)
            radio.clearLogs()
            #expect(radio.logEntries.isEmpty)
            let lines = Mutex<[String]>([])
            radio.logToConsole { line in lines.withLock { $0.append(line) } }
            try await radio.withModule(Self.first, secret: Self.secret) { _ in }
            #expect(lines.withLock { $0 } == radio.logs)
            radio.clearCache()
            try await radio.withModule(Self.first, secret: Self.secret) { _ in }
        }
    }
}
