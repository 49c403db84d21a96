import Base
import Foundation
import Radio
import Synchronization
import Testing
import Workbench

@testable import VehicleModules

/// The file that keeps what is remembered of modules for the next program.
@Suite struct CacheFileTests {
    private let folder: Scratch
    private let path: String

    init() throws {
        folder = try Scratch()
        path = folder.path + "/modules.cache"
    }

    private static func serial(_ number: Int) -> Serial { ModuleBench.serial(number) }

    private static func module(_ number: Double = 1) -> CachedModule {
        var module = CachedModule()
        module.name = "Bay 3 \u{1F6B2} \"x\""
        module.peer = Peer(handle: "C0:00:00:00:00:0A")
        module.type = 17
        module.version = "4.11.3"
        module.lacking = [0x0401, 7]
        module.model = CachedModule.Model(
            family: Family(rawValue: "comodule"),
            profile: "generic",
            variant: "3"
        )
        let time = WallTime(milliseconds: 1_700_000_000_123)
        for (name, value) in [
            ("speed", PropertyValue.number(number)), ("odometer", .number(1.25)),
            ("lights", .state("enabled")), ("mode", .unknownState(.max)),
            ("label", .bytes([0, 0xFF])),
        ] {
            module.readings[name] = CachedModule.Reading(value, at: time)
        }
        return module
    }

    /// A program with the file: what `body` gave it is written at its end.
    ///
    /// Returns what it told.
    @discardableResult
    private func program(
        _ path: String? = nil,
        _ body: (ModuleCache) async -> Void
    ) async -> [String] {
        let told = Mutex<[String]>([])
        let file = ModuleCacheFile(path: path ?? self.path) { line in
            told.withLock { $0.append(line) }
        }
        let cache = ModuleCache(file: file)
        await file.whileWriting { await body(cache) }
        return told.withLock { $0 }
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private static var document: [UInt8] {
        ModuleCacheDocument.bytes(of: [(serial(1), module()), (serial(2), CachedModule())])
    }

    @Test func `what is written is read back, each value and each fact`() throws {
        let found = try ModuleCacheDocument.modules(in: Self.document)
        #expect(found.map(\.serial) == [Self.serial(1), Self.serial(2)])
        #expect(found.map(\.module) == [Self.module(), CachedModule()])
    }

    @Test func `a document that is cut off at any byte is refused, and known as ours`() throws {
        let bytes = Self.document
        for length in 1..<(bytes.count - 1) {
            let part = Array(bytes.prefix(length))
            #expect(ModuleCacheDocument.isOurs(part))
            #expect(throws: ModuleCacheDocument.Fault.self, "\(length)") {
                try ModuleCacheDocument.modules(in: part)
            }
        }
        // Only the line feed is missing.
        #expect(try ModuleCacheDocument.modules(in: bytes.dropLast()).count == 2)
    }

    @Test func `the next program knows what the last one read, and only its owner may read it`()
        async throws
    {
        let told = await program { cache in
            #expect(cache.count == 0)
            cache.remember(Self.module(), as: Self.serial(1))
            let time = WallTime(milliseconds: 1_800_000_000_000)
            cache.note([PropertyReading("speed", .number(25))], at: time, of: Self.serial(1))
            cache.keep(Self.serial(1))
        }
        #expect(told == [])
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        await program { cache in
            let module = cache[Self.serial(1)]
            #expect(module?.readings["speed"]?.value == .number(25))
            #expect(module?.readings["speed"]?.time.milliseconds == 1_800_000_000_000)
            #expect(module?.readings["lights"] == Self.module().readings["lights"])
            #expect(module?.peer == Self.module().peer)
        }
    }

    @Test func `a file that is cut off at any byte is told once, and whole after the next link`()
        async throws
    {
        let bytes = Self.document
        for length in stride(from: 1, to: bytes.count - 1, by: 7) {
            try write(Array(bytes.prefix(length)))
            let told = await program { cache in
                #expect(cache.count == 0)
                cache.remember(Self.module(2), as: Self.serial(3))
            }
            #expect(told.count == 1 && told[0].contains("damaged"), "\(length): \(told)")
            #expect(try ModuleCacheDocument.modules(in: content()).count == 1)
        }
    }

    @Test func `another program's file is told and never touched`() async throws {
        let foreign: [[UInt8]] = [
            Array("name: depot\n".utf8), Array(#"{"format":"something else"}"#.utf8),
            Array(#"{"format":"yardmaster-modules","version":2,"modules":[]}"#.utf8),
            [UInt8](repeating: 0x20, count: ModuleCacheDocument.mostBytes + 1),
        ]
        for bytes in foreign {
            try write(bytes)
            let told = await program { cache in
                cache.remember(Self.module(), as: Self.serial(1))
                #expect(cache.count == 1)
                cache.clear()
                #expect(cache.count == 0)
            }
            #expect(told.count == 1 && told[0].contains("no cache of modules"), "\(told)")
            #expect(try content() == bytes)
        }
    }

    @Test func `a cache that is too large, a folder in its place, and a missing folder are told`()
        async throws
    {
        let large =
            Self.document.dropLast(2)
            + [UInt8](repeating: 0x20, count: ModuleCacheDocument.mostBytes) + Array("}\n".utf8)
        try write(Array(large))
        let told = await program { cache in
            #expect(cache.count == 0)
            cache.remember(Self.module(), as: Self.serial(1))
        }
        #expect(told.count == 1 && told[0].contains("larger than 16 MiB"), "\(told)")
        #expect(try ModuleCacheDocument.modules(in: content()).count == 1)
        let inside = folder.path + "/folder"
        try FileManager.default.createDirectory(
            atPath: inside,
            withIntermediateDirectories: false
        )
        for other in [inside, folder.path + "/missing/modules.cache"] {
            let told = await program(other) { $0.remember(Self.module(), as: Self.serial(1)) }
            #expect(told.count == 1, "\(other): \(told)")
        }
    }

    @Test func `two programs with one file lose nothing of each other`() async throws {
        let path = path
        await withTaskGroup(of: [String].self) { group in
            for program in 0..<2 {
                group.addTask {
                    await self.program(path) { cache in
                        for number in 0..<40 {
                            cache.remember(Self.module(), as: Self.serial(2 * number + program))
                            await Task.yield()
                        }
                    }
                }
            }
            for await told in group { #expect(told == []) }
        }
        let found = try ModuleCacheDocument.modules(in: content())
        #expect(Set(found.map(\.serial)).count == 80)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test func `a file that another program keeps stops nobody`() async throws {
        let lock = open(path + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let told = await program { $0.remember(Self.module(), as: Self.serial(1)) }
        #expect(told.count == 1 && told[0].contains("another program keeps it"), "\(told)")
    }

    @Test func `clearing forgets what this program and earlier ones knew`() async throws {
        await program { $0.remember(Self.module(), as: Self.serial(1)) }
        await program { cache in
            #expect(cache.count == 1)
            cache.clear()
            #expect(cache[Self.serial(1)] == nil)
            cache.remember(Self.module(), as: Self.serial(2))
        }
        #expect(try ModuleCacheDocument.modules(in: content()).map(\.serial) == [Self.serial(2)])
    }

    @Test func `only the newest thousand modules are kept, and no address of another radio`() throws
    {
        var module = CachedModule()
        module.peer = Peer(handle: "/org/bluez/hci0/dev_C0")
        let many = (0..<1_100).map { (serial: Self.serial($0), module: module) }
        let found = try ModuleCacheDocument.modules(in: ModuleCacheDocument.bytes(of: many))
        #expect(found.count == 1_000 && found.first?.serial == Self.serial(100))
        #expect(found.allSatisfy { $0.module.peer == nil })
    }
}
