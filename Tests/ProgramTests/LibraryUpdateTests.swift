import Foundation
import Synchronization
import Testing
import VehicleModules

/// Updates by the library, in simulated air and over a served bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LibraryUpdateTests {
    typealias Air = LibraryBench.Air

    /// Quick modules, so that the tests take little real time.
    private static let depot = """
        name: updates
        seed: 3
        modules:
          - {serial: "00a0000000000001", count: 2, key: "11", type: 17, version: "4.11.3",
             restart-time: 200ms, activation-time: 200ms, erase-time: 2ms}
          - {serial: "00a0000000000003", key: "11", type: 17, version: "4.11.3",
             restart-time: 200ms, activation-time: 200ms, erase-time: 2ms,
             faults: [{link-lost-at: 40KiB}]}
          - {serial: "00a0000000000004", key: "11", type: 17, version: "5.0.0"}
          - {serial: esp-0001, family: esp, version: "2.6.0", restart-time: 200ms, erase-time: 2ms}
          - {serial: tag-0001, family: nordic, bootloader: legacy-dfu, version: "1.4.0",
             restart-time: 200ms, activation-time: 200ms, erase-time: 2ms}
          - {serial: TRK-0001, family: mcumgr, version: "1.0.0", restart-time: 200ms,
             activation-time: 200ms, erase-time: 2ms}

        """

    private let bench: LibraryBench

    init() throws { bench = try LibraryBench(Self.depot) }

    private static func city() throws -> FirmwareImage {
        try FirmwareImage(path: LibraryBench.image("demo/city-4.12.0.zip"))
    }

    /// Options that accept a module as at rest sooner than a run would.
    private static let hasty: FirmwareUpdateOptions = {
        var options = FirmwareUpdateOptions()
        options.quiet = .milliseconds(500)
        return options
    }()

    private static let secret = ModuleSecret("11")

    @Test(arguments: Air.allCases)
    func `an update goes on over a broken link, and is over when the version is proven`(
        air: Air
    ) async throws {
        try await bench.on(air) { radio in
            let image = try Self.city()
            #expect(image.version == "4.12.0" && image.name == "city-4.12.0.zip")
            let serial = "00a0000000000003"
            try await radio.withUpdate(
                of: serial,
                to: image,
                secret: Self.secret,
                options: Self.hasty
            ) { update in
                var (statuses, most): ([FirmwareUpdateStatus], Int) = ([], 0)
                for await status in update.statuses {
                    statuses.append(status)
                    guard case .uploading(let progress) = status else { continue }
                    #expect(progress.total == image.size && progress.sent >= most)
                    most = progress.sent
                }
                #expect(statuses.last == .ended(.updated(to: "4.12.0")))
                #expect(most == image.size)
                #expect(update.interruptions == 1)
                #expect(statuses.contains(.settling))
                let result = try await update.result()
                #expect(result == .updated(to: "4.12.0"))
            }
            try await radio.withModule(serial, secret: Self.secret) { module in
                #expect(module.firmware?.secondary == "4.12.0")
            }
            let again = try await radio.update(serial, to: image, secret: Self.secret)
            #expect(again == .alreadyCurrent("4.12.0"))
            #expect(radio.logs.contains { $0.contains("the update was interrupted") })
        }
    }

    @Test(arguments: Air.allCases)
    func `an update is stopped at a safe point, and goes on from its record`(
        air: Air
    ) async throws {
        let records = Mutex<[FirmwareUpdateRecord?]>([])
        let keep: @Sendable (FirmwareUpdateRecord?) -> Void = { record in
            records.withLock { $0.append(record) }
        }
        try await bench.on(air) { radio in
            let image = try Self.city()
            let first = try await radio.withUpdate(
                of: "00a0000000000001",
                to: image,
                secret: Self.secret,
                options: Self.hasty,
                keep: keep
            ) { update in
                for await status in update.statuses {
                    if case .uploading(let now) = status, now.sent > 20_000 { update.stop() }
                }
                return try await update.result()
            }
            #expect(first == .stopped)
            // Read like this by another program.
            let text = try #require(records.withLock { $0.last ?? nil }?.text)
            let record = try #require(FirmwareUpdateRecord(text))
            #expect(record.image == image.sha256 && record.text == text)
            try await radio.withUpdate(
                of: "00a0000000000001",
                to: image,
                secret: Self.secret,
                options: Self.hasty,
                resuming: record,
                keep: keep
            ) { update in
                var from: Int?
                for await status in update.statuses {
                    if case .uploading(let now) = status, now.sent > now.resumedFrom {
                        from = from ?? now.resumedFrom
                    }
                }
                let result = try await update.result()
                #expect(result == .updated(to: "4.12.0"))
                #expect(try #require(from) >= 4_096)
            }
            #expect(records.withLock { $0.last } == .some(nil))
        }
    }

    @Test(arguments: Air.allCases)
    func `a connected module is updated by anyone who is connected to it`(air: Air) async throws {
        try await bench.on(air) { radio in
            try await radio.withModule(
                "00a0000000000002",
                secret: Self.secret,
                updates: { firmware in
                    firmware.secondary == "4.12.0"
                        ? .upToDate : .available(part: "secondary") { try Self.city() }
                }
            ) { module in
                for await status in module.updateStatuses
                where status == .available(part: "secondary") { break }
                let result = try await module.withUpdate(to: Self.city(), options: Self.hasty) {
                    update in
                    for await status in update.statuses {
                        guard case .uploading = status else { continue }
                        break
                    }
                    let name = "COMODULE"
                    #expect(
                        module.state
                            == .connecting(
                                name: name,
                                serial: "00a0000000000002",
                                .firmwareUpdateOngoing
                            )
                    )
                    guard case .ongoing(part: "secondary", _, _) = module.updateStatus else {
                        Issue.record("\(module.updateStatus)")
                        return try await update.result()
                    }
                    let code = await LibraryBench.code {
                        try await module.write(.state("enabled"), to: "lights")
                    }
                    #expect(code == .firmwareUpdateOngoing)
                    let others = [
                        await LibraryBench.code { try await module.perform("lock", "on") },
                        await LibraryBench.code { try await module.send(ModuleCommand(1, in: 5)) },
                        await LibraryBench.code {
                            try await module.withUpdate(to: Self.city()) { _ in }
                        },
                        await LibraryBench.code {
                            try await module.changeSecret(to: ModuleSecret("22"))
                        },
                        await LibraryBench.code { try await module.updateFirmware() },
                    ]
                    #expect(others == Array(repeating: .firmwareUpdateOngoing, count: 5))
                    return try await update.result()
                }
                #expect(result == .updated(to: "4.12.0"))
                #expect(module.firmware?.secondary == "4.12.0")
                for await status in module.updateStatuses where status == .upToDate { break }
                let lights = try await module.write(.state("enabled"), to: "lights")
                #expect(lights == .state("enabled"))
            }
        }
    }

    /// Those that come until the module is up to date.
    private static func statuses(
        _ stream: AsyncStream<ModuleUpdateStatus>
    ) async -> [ModuleUpdateStatus] {
        var statuses: [ModuleUpdateStatus] = []
        for await status in stream {
            statuses.append(status)
            if status == .upToDate { break }
        }
        return statuses
    }

    @Test(arguments: Air.allCases)
    func `an available update is fetched and made by one call`(air: Air) async throws {
        try await bench.on(air) { radio in
            let hasNetwork = Mutex(false)
            let image: @Sendable () throws -> FirmwareImage = {
                struct NoRoute: Error {}
                guard hasNetwork.withLock({ $0 }) else { throw NoRoute() }
                return try Self.city()
            }
            try await radio.withModule(
                "00a0000000000002",
                secret: Self.secret,
                updates: { firmware in
                    firmware.secondary == "4.12.0"
                        ? .upToDate : .available(part: "secondary") { try image() }
                }
            ) { module in
                let stream = module.updateStatuses
                async let seen = Self.statuses(stream)
                for await status in module.updateStatuses
                where status == .available(part: "secondary") { break }
                let code = await LibraryBench.code { try await module.updateFirmware() }
                #expect(code == .networkError)
                for await status in module.updateStatuses
                where status == .available(part: "secondary") { break }
                hasNetwork.withLock { $0 = true }
                let result = try await module.updateFirmware(options: Self.hasty)
                #expect(result == .updated(to: "4.12.0"))
                let fetching = ModuleUpdateStatus.ongoing(
                    part: "secondary",
                    .fetching,
                    percent: 0
                )
                // In real time a reader may be too slow for it.
                #expect(await seen.contains(fetching) || air == .served)
                for await status in module.updateStatuses where status == .upToDate { break }
                let none = await LibraryBench.code { try await module.updateFirmware() }
                #expect(none == .updateRejected)
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a check that is wrong is refused, and none means up to date`(air: Air) async throws {
        try await bench.on(air) { radio in
            let serial = "00a0000000000001"
            try await radio.withModule(
                serial,
                secret: Self.secret,
                updates: { _ in .available(part: "second") { try Self.city() } }
            ) { module in
                for await status in module.updateStatuses {
                    guard case .checkFailed(let words) = status else { continue }
                    #expect(words.contains("`second`"))
                    break
                }
                let code = await LibraryBench.code { try await module.updateFirmware() }
                #expect(code == .updateRejected)
            }
            try await radio.withConnection(serial, secret: Self.secret) { connection in
                let module = try await connection.connected()
                for await status in module.updateStatuses where status == .upToDate { break }
                await connection.disconnect()
                let codes = [
                    await LibraryBench.code {
                        try await module.withUpdate(to: Self.city()) { _ in }
                    },
                    await LibraryBench.code {
                        try await module.changeSecret(to: ModuleSecret("22"))
                    },
                    await LibraryBench.code { try await module.updateFirmware() },
                ]
                #expect(codes == Array(repeating: .moduleNotConnected, count: 3))
            }
        }
    }

    @Test func `an image is the same from a file, from memory and from the store`() throws {
        let file = try Self.city()
        let bytes = [UInt8](
            try Data(contentsOf: URL(filePath: LibraryBench.image("demo/city-4.12.0.zip")))
        )
        let memory = try FirmwareImage(bytes: bytes, sha256: file.sha256)
        let state = bench.program.folder.path
        let folder = "\(state)/images/sha256/\(file.sha256.prefix(2))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(file.sha256)"))
        let stored = try FirmwareImage(sha256: file.sha256, store: state)
        for image in [memory, stored] {
            #expect(image.sha256 == file.sha256 && image.size == file.size)
            #expect(image.version == "4.12.0")
        }
        #expect(throws: ModuleFailure.self) { try FirmwareImage(bytes: [1, 2, 3]) }
        for digest in ["beef", String(repeating: "0", count: 64)] {
            #expect(throws: ModuleFailure.self) {
                try FirmwareImage(sha256: digest, store: state)
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `modules of other families are updated by the same call`(air: Air) async throws {
        try await bench.on(air) { radio in
            let cases = [
                ("esp-0001", "esp", "generic", "sensors/sensor-2.7.31.bin", "2.7.31"),
                ("tag-0001", "nordic", "legacy", "tags/tag-2.0.0.zip", "2.0.0"),
                ("TRK-0001", "mcumgr", "generic", "depot-wide/tracker-2.0.0.img", "2.0.0"),
            ]
            for (serial, family, profile, path, version) in cases {
                let image = try FirmwareImage(path: LibraryBench.image(path), version: version)
                let result = try await radio.update(
                    serial,
                    family: family,
                    profile: profile,
                    to: image,
                    options: Self.hasty
                )
                #expect(result == .updated(to: image.version), "\(family)")
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `what must not be sent is refused, and says why`(air: Air) async throws {
        let damaged = bench.program.folder.path + "/damaged.zip"
        try Data("PK nothing".utf8).write(to: URL(filePath: damaged))
        try await bench.on(air) { radio in
            let (image, secret) = (try Self.city(), Self.secret)
            let path = LibraryBench.image("demo/city-4.12.0.zip")
            let cases: [(ModuleFailure.Code, @Sendable () async throws -> Void)] = [
                (.invalidFile, { _ = try FirmwareImage(path: "/nonexistent") }),
                (.invalidImage, { _ = try FirmwareImage(path: damaged) }),
                (.invalidImage, { _ = try FirmwareImage(path: path, version: "4.13") }),
                (.invalidValue, { _ = try FirmwareImage(path: path, version: "four") }),
                (.invalidValue, { _ = try FirmwareImage(path: path, part: "wheel") }),
                (
                    .invalidImage,
                    { _ = try FirmwareImage(path: path, sha256: String(repeating: "0", count: 64)) }
                ),
                (.updateRejected, { try await radio.update("esp-0001", family: "esp", to: image) }),
                (.invalidValue, { try await radio.update("esp-0001", family: "tram", to: image) }),
                (.invalidPrivateKey, { try await radio.update("00a0000000000001", to: image) }),
                (
                    .invalidPrivateKey,
                    {
                        try await radio.update(
                            "00a0000000000001",
                            to: image,
                            secret: ModuleSecret("33")
                        )
                    }
                ),
                (
                    .updateRejected,
                    { try await radio.update("00a0000000000004", to: image, secret: secret) }
                ),
                (
                    .updateRejected,
                    {
                        var options = Self.hasty
                        options.type = 18
                        try await radio.update(
                            "00a0000000000001",
                            to: image,
                            secret: secret,
                            options: options
                        )
                    }
                ),
            ]
            for (number, (code, body)) in cases.enumerated() {
                let found = await LibraryBench.code(body)
                #expect(found == code, "case \(number)")
            }
            // None of these attempts has changed a module.
            try await radio.withModule("00a0000000000001", secret: secret) { module in
                #expect(module.firmware?.secondary == "4.11.3")
            }
        }
    }

    @Test func `a module that goes back to its old version is no success`() async throws {
        try bench.program.write(
            "depot.yaml",
            """
            name: back
            modules:
              - {serial: esp-0002, family: esp, version: "2.6.0", faults: [{rolls-back: true}]}

            """
        )
        try await bench.on(.simulated) { radio in
            let image = try FirmwareImage(
                path: LibraryBench.image("sensors/sensor-2.7.31.bin"),
                version: "2.7.31"
            )
            let code = await LibraryBench.code {
                try await radio.update("esp-0002", family: "esp", to: image)
            }
            #expect(code == .wrongVersion || code == .rolledBack)
        }
    }

    @Test func `a record that cannot be kept ends the update before anything is sent`()
        async throws
    {
        struct Full: Error {}
        try await bench.on(.simulated) { radio in
            let code = await LibraryBench.code {
                try await radio.update(
                    "00a0000000000001",
                    to: Self.city(),
                    secret: Self.secret
                ) { _ in throw Full() }
            }
            #expect(code == .recordNotKept)
            try await radio.withModule("00a0000000000001", secret: Self.secret) { module in
                #expect(module.firmware?.secondary == "4.11.3")
            }
        }
    }

    @Test func `only a record's text is a record`() throws {
        let digest = String(repeating: "ab", count: 32)
        let line = "1 \(digest) transferring 1700 seen bootloader 1 4096 2 0 some where"
        let record = try #require(FirmwareUpdateRecord(line + "\n"))
        #expect(record.text == line && record.image == digest)
        for text in [
            "", "1", "2" + line.dropFirst(), line.replacing("4096", with: "-1"),
            line.replacing("transferring", with: "flying"), line.replacing(digest, with: "ab"),
            line.replacing("1700", with: "soon"),
        ] {
            #expect(FirmwareUpdateRecord(text) == nil, "\(text)")
        }
    }
}
