import Base
import Families
import Radio
import Simulation
import Synchronization
import Testing

@testable import VehicleModules

/// Data that modules send without a request: changed values, storms of them, and the status of
/// updates.
@Suite struct FeedTests {
    @Test func `a watched property has its value, each newest one, and an end`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            let seen = Mutex<[PropertyOutput]>([])
            let note: @Sendable (PropertyOutput) -> Void = { output in
                seen.withLock { $0.append(output) }
            }
            await withTaskGroup(of: Void.self) { group in
                let outputs = await connection.watch("lights")
                group.addTask { for await output in outputs { note(output) } }
                await connection.tended { connection in
                    try? await connection.connect(
                        ModuleBench.serial(1),
                        secret: ModuleBench.secret
                    )
                    await bench.set { $0.lights = 1 }
                    await bench.time.sleep(for: .seconds(1), "the module to tell")
                    _ = try? await connection.write(.state("blinking"), to: "lights")
                    await bench.time.sleep(for: .seconds(1), "the module to tell")
                }
                await bench.time.sleep(for: .seconds(1), "the end to be seen")
                group.cancelAll()
            }
            let values = seen.withLock { $0 }
            #expect(
                values.map { $0.value?.text } == [nil, "disabled", "enabled", "blinking", nil]
            )
            #expect(values.first == .notAvailable(.moduleNotConnected))
            #expect(values.last == .notAvailable(.moduleNotConnected))
        }
    }

    @Test func `what cannot be watched says why`() throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            func first(_ name: String) async -> PropertyOutput? {
                var iterator = await connection.watch(name).makeAsyncIterator()
                return await iterator.next()
            }
            #expect(await first("nothing") == .notAvailable(.missing))
            #expect(await first("clock") == .writeOnly(sure(genericProfile.property("clock"))))
            #expect(await first("lights")?.value == .state("disabled"))
            await connection.disconnect()
        }
    }

    // MARK: Storms

    /// A subscription with ten thousand values per second, and a last one at the end.
    private struct Storm: Subscription {
        let time: any Timekeeper
        let count: Int
        let sent: Mutex0

        final class Mutex0: Sendable {
            let value = Mutex(0)
        }

        func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
            let number = sent.value.withLock { value in
                value += 1
                return value
            }
            guard number <= count else {
                await time.sleep(until: deadline, for: "the storm to be over")
                throw .timedOut
            }
            await time.sleep(for: .microseconds(100), "the next value")
            return MotionRecord(speedTenths: UInt16(truncatingIfNeeded: number)).record.bytes
        }
    }

    private final class StormLink: Link {
        let peer = Peer(handle: "storm")
        let maximumLength = 244
        let storm: Storm

        init(_ storm: Storm) { self.storm = storm }

        func flags(of characteristic: Characteristic) -> CharacteristicFlags? { [.read, .write] }

        func read(
            _ characteristic: Characteristic,
            before deadline: Moment
        ) async throws(RadioError) -> [UInt8] { throw .timedOut }

        func write(
            _ bytes: [UInt8],
            to characteristic: Characteristic,
            before deadline: Moment
        ) async throws(RadioError) {}

        func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {}

        func subscribe(
            to characteristic: Characteristic,
            before deadline: Moment
        ) async throws(RadioError) -> any Subscription { storm }

        func disconnect() async {}
    }

    @Test func `ten thousand values a second leave one in memory, and it is the newest`() throws {
        let count = 30_000
        let simulation = Simulation(seed: 3)
        try simulation.run { () async -> Result<Void, any Error> in
            let storm = Storm(time: simulation.time, count: count, sent: Storm.Mutex0())
            let client = ComoduleClient(link: StormLink(storm), time: simulation.time)
            let properties = ComoduleProperties(
                client: client,
                profile: genericProfile,
                time: simulation.time
            )
            let latest = Latest<PropertyValue?>(nil)
            let slow = Mutex<[PropertyValue]>([])
            let note: @Sendable (PropertyValue?) -> Void = { value in
                if let value { slow.withLock { $0.append(value) } }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await value in latest.values() {
                        note(value)
                        // Much slower than the values arrive.
                        await simulation.time.sleep(for: .milliseconds(100), "a slow watcher")
                    }
                }
                let end = simulation.time.now.advanced(by: .seconds(4))
                while simulation.time.now < end {
                    let changes = (try? await properties.changes(before: end)) ?? []
                    for change in changes { latest.set(change.value) }
                }
                await simulation.time.sleep(for: .seconds(1), "the watcher to come to it")
                group.cancelAll()
            }
            let expected = PropertyValue.number(Double(UInt16(truncatingIfNeeded: count)) / 10)
            #expect(latest.value == expected)
            let seen = slow.withLock { $0 }
            #expect(seen.last == expected)
            #expect(seen.count < 60, "\(seen.count)")
            #expect(latest.watcherCount == 0)
            return .success(())
        }.get()
    }

    @Test func `a storm on one link lets the others go on`() throws {
        let stormy = ModuleBench.module(1) { $0.faults = [.init(.storm(perSecond: 10_000))] }
        let calm = ModuleBench.module(2)
        func time(_ plans: [ModulePlan]) throws -> Duration {
            try ModuleBench(plans).run { bench in
                let storm = bench.connection()
                let other = bench.connection()
                return try await storm.tended { storm -> Result<Duration, any Error> in
                    do {
                        try await storm.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
                        try await other.connect(ModuleBench.serial(2), secret: ModuleBench.secret)
                        let began = bench.time.now
                        for step in 0..<20 {
                            let word = step.isMultiple(of: 2) ? "enabled" : "disabled"
                            try await other.write(.state(word), to: "lights")
                        }
                        let took = began.duration(to: bench.time.now)
                        // The module that sends the storm answers, too.
                        #expect(try await storm.read("state_of_charge") == .number(80))
                        await other.disconnect()
                        return .success(took)
                    } catch { return .failure(error) }
                }.get()
            }
        }
        let quiet = try time([ModuleBench.module(1), calm])
        let loud = try time([stormy, calm])
        #expect(loud < quiet * 4, "\(quiet) \(loud)")
    }

    @Test func `frames that are no records are passed over`() throws {
        let plan = ModuleBench.module {
            $0.faults = [.init(.storm(perSecond: 100)), .init(.garbage, times: 50)]
        }
        // The first reading also gets garbage, so another attempt is made for it.
        try ModuleBench([plan]).run { bench in
            let connection = bench.connection()
            let speed = await connection.tended { connection -> ModuleValue? in
                try? await connection.connect(
                    ModuleBench.serial(1),
                    secret: ModuleBench.secret,
                    timeout: .seconds(120)
                )
                await bench.time.sleep(for: .seconds(5), "some values")
                return connection.properties.value.first { $0.name == "speed" }?.value
            }
            guard case .number(let number)? = speed else {
                Issue.record("no speed")
                return
            }
            #expect(number > 10)
        }
    }

    // MARK: Update status

    private static func available(_ part: String) -> ModuleUpdateCheck {
        .available(part: part) { throw ModuleFailure.notConnected }
    }

    @Test func `up to date is said only when a check said so`() {
        var tracker = UpdateTracker()
        #expect(tracker.status == .moduleNotConnected)
        tracker.checked(.upToDate)
        #expect(tracker.status == .moduleNotConnected)
        tracker.connected()
        #expect(tracker.status == .fetchingUpdateInfo)
        tracker.checked(.failed("no network"))
        #expect(tracker.status == .checkFailed("no network"))
        tracker.checked(.upToDate)
        #expect(tracker.status == .upToDate)
        tracker.checked(Self.available("external-1"))
        #expect(tracker.status == .available(part: "external-1"))
        tracker.disconnected()
        #expect(tracker.status == .moduleNotConnected)
        tracker.connected()
        #expect(tracker.status == .fetchingUpdateInfo)
    }

    @Test func `an update of an external part goes through its states in the order observed`() {
        var tracker = UpdateTracker()
        tracker.connected()
        tracker.checked(Self.available("external-1"))
        var seen: [ModuleUpdateStatus] = [tracker.status]
        for step in ModuleUpdateStatus.Step.allCases {
            tracker.began("external-1", step, percent: 100)
            seen.append(tracker.status)
        }
        // The link is lost in the middle: the update still belongs to this program.
        tracker.disconnected()
        #expect(tracker.status == seen.last)
        tracker.connected()
        tracker.ended()
        seen.append(tracker.status)
        tracker.handsOn(true)
        seen.append(tracker.status)
        tracker.handsOn(false)
        seen.append(tracker.status)
        tracker.checked(.upToDate)
        seen.append(tracker.status)
        let part = "external-1"
        #expect(
            seen == [
                .available(part: part), .ongoing(part: part, .fetching, percent: 100),
                .ongoing(part: part, .initiating, percent: 100),
                .ongoing(part: part, .uploading, percent: 100), .fetchingUpdateInfo,
                .moduleUpdatingComponent, .fetchingUpdateInfo, .upToDate,
            ]
        )
        #expect(seen.count(where: \.isOngoing) == 4)
    }

    @Test(arguments: [
        (ModuleUpdateCheck.upToDate, ModuleUpdateStatus.upToDate),
        (available("secondary"), .available(part: "secondary")), (.failed("x"), .checkFailed("x")),
    ])
    func `every connection asks once whether there is an update`(
        check: ModuleUpdateCheck,
        status: ModuleUpdateStatus
    ) throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let asked = Mutex<[String]>([])
            let note: @Sendable (String) -> Void = { version in
                asked.withLock { $0.append(version) }
            }
            var options = ModuleConnection.Options(genericProfile)
            options.updates = { versions in
                note(versions.secondary)
                await bench.time.sleep(for: .seconds(2), "the answer")
                return check
            }
            let wanted = options
            let connection = bench.connection()
            await connection.tended { connection in
                for _ in 0..<2 {
                    try? await connection.connect(
                        ModuleBench.serial(1),
                        secret: ModuleBench.secret,
                        options: wanted
                    )
                    await bench.time.sleep(for: .seconds(1), "the question")
                    #expect(connection.update.value == .fetchingUpdateInfo)
                    await bench.time.sleep(for: .seconds(3), "the answer")
                    #expect(connection.update.value == status)
                }
            }
            #expect(connection.update.value == .moduleNotConnected)
            #expect(
                asked.withLock { $0 } == ["4.11.3", "4.11.3"]
            )
        }
    }
}
