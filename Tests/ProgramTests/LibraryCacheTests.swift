import Foundation
import Testing
import VehicleModules

/// The library's cache in a file, in simulated air and over a served bus.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LibraryCacheTests {
    typealias Air = LibraryBench.Air

    private static let depot = """
        name: cache
        seed: 3
        modules:
          - {serial: "00a0000000000001", key: "5ec2e7", type: 17, version: "4.11.3",
             state-of-charge: 64}

        """

    private static let (serial, secret) = ("00a0000000000001", ModuleSecret("5ec2e7"))

    private let bench: LibraryBench
    private let cache: String

    init() throws {
        bench = try LibraryBench(Self.depot)
        cache = bench.program.folder.path + "/modules.cache"
    }

    @Test(arguments: Air.allCases)
    func `the last readings of an earlier program are known without a link, with their time`(
        air: Air
    ) async throws {
        try await bench.on(air, cache: cache) { radio in
            #expect(radio.cachedProperties(of: Self.serial).isEmpty)
            try await radio.withModule(Self.serial, secret: Self.secret) { module in
                try await module.write(.state("enabled"), to: "lights")
                let properties = await module.properties
                #expect(properties.allSatisfy { $0.cached == nil })
            }
            let first = try #require(radio.logEntries.first)
            let known = radio.cachedProperties(of: Self.serial.uppercased())
            #expect(known.first { $0.name == "lights" }?.value == .state("enabled"))
            // Values are read before the log says that the module is connected.
            #expect(known.allSatisfy { abs(($0.cached ?? 0) - first.milliseconds) < 60_000 })
        }
        let text = try String(contentsOfFile: cache, encoding: .utf8)
        #expect(text.contains(Self.serial) && !text.contains("5ec2e7"))
        try await bench.on(air, cache: cache) { radio in
            let known = radio.cachedProperties(of: Self.serial)
            #expect(known.first { $0.name == "lights" }?.value == .state("enabled"))
            let charge = try #require(known.first { $0.name == "state_of_charge" })
            #expect(charge.value == .number(64) && charge.cached != nil)
            #expect(charge.unit == "percent" && charge.isReadable)
            #expect(radio.logEntries.isEmpty)
            // The module is not searched: its address is known.
            let steps = try await radio.withConnection(Self.serial, secret: Self.secret) {
                connection in
                var steps: [ModuleConnectionState.Connecting] = []
                for await state in connection.states {
                    if case .connecting(_, _, let step) = state { steps.append(step) }
                    if case .connected = state { break }
                }
                return steps
            }
            // On a busy machine the few seconds for that may not be enough on a bus.
            #expect(air == .served || !steps.contains(.searching))
            radio.clearCache()
            #expect(radio.cachedProperties(of: Self.serial).isEmpty)
        }
        try await bench.on(air, cache: cache) { radio in
            #expect(radio.cachedProperties(of: Self.serial).isEmpty)
        }
    }

    @Test(arguments: Air.allCases)
    func `a cache that cannot be used is told in the log, and stops nothing`(
        air: Air
    ) async throws {
        try "not a cache".write(toFile: cache, atomically: true, encoding: .utf8)
        try await bench.on(air, cache: cache) { radio in
            let told = radio.logEntries.filter { $0.level == .warning }
            #expect(told.count == 1 && told[0].text.contains("it is no cache of modules"))
            try await radio.withModule(Self.serial, secret: Self.secret) { _ in }
            #expect(!radio.cachedProperties(of: Self.serial).isEmpty)
        }
        #expect(try String(contentsOfFile: cache, encoding: .utf8) == "not a cache")
    }

    @Test func `another process shows what this one read`() async throws {
        try bench.program.write("demo.key", "5ec2e7\n")
        try await bench.on(.simulated, cache: cache) { radio in
            try await radio.withModule(Self.serial, secret: Self.secret) { module in
                let taken = try await module.write(.state("blinking"), to: "lights")
                #expect(taken == .state("blinking"))
            }
        }
        let run = try ExampleProgram.run(
            "ScanAndRead",
            ["depot.yaml", "demo.key", "cache=modules.cache"],
            in: bench.program.folder.path
        )
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("  lights was blinking\n"), "\(run.output)")
        #expect(run.output.contains("  lights = disabled "), "\(run.output)")
        try await bench.on(.simulated, cache: cache) { radio in
            let known = radio.cachedProperties(of: Self.serial)
            #expect(known.first { $0.name == "lights" }?.value == .state("disabled"))
        }
    }
}
