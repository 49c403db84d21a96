import Base
import BlueZ
import Glibc
import PrivateBus
import Synchronization
import Testing
import Workbench

@Suite(.timeLimit(.minutes(5))) struct CallTests {
    @Test func `the bus gives a name to each connection`() async throws {
        try await withPair { service, client in
            let names = await (service.uniqueName, client.uniqueName)
            #expect(names.0.hasPrefix(":") && names.1.hasPrefix(":") && names.0 != names.1)
            #expect(await client.carriesDescriptors)
        }
    }

    @Test func `a method learns who calls, and its error comes back as it was`() async throws {
        try await withPair { service, client in
            await service.export(Sample.description("s"), at: Sample.path) { call in
                call.fail(ErrorReply("org.bluez.Error.Failed", call.sender))
            }
            let name = await client.uniqueName
            await #expect(
                throws: BusError.refused(ErrorReply("org.bluez.Error.Failed", name))
            ) { try await client.call(Sample.call(service, [.string("x")])) }
        }
    }

    @Test func `arguments of other types never reach the method`() async throws {
        try await withPair { service, client in
            await service.export(Sample.description("say"), at: Sample.path) { $0.reply() }
            for wrong: [DBusValue] in [[], [.string("x")], [.byte(1), .bytes([])]] {
                let error = await #expect(throws: BusError.self) {
                    try await client.call(Sample.call(service, wrong))
                }
                guard case .refused(let reply) = error else {
                    Issue.record("\(error as Any)")
                    continue
                }
                #expect(reply.name == "org.freedesktop.DBus.Error.InvalidArgs")
            }
        }
    }

    @Test func `an answer of other types is an error and no value`() async throws {
        try await withPair { service, client in
            await service.export(Sample.description(), at: Sample.path) { $0.reply(.byte(1)) }
            await #expect(
                throws: BusError.malformed(.body(expected: "hq", found: "y"))
            ) { try await client.call(Sample.call(service), answering: "hq") }
        }
    }

    @Test func `what is not there is named by the error`() async throws {
        try await withPair { service, client in
            await service.export(Sample.description(), at: Sample.path) { $0.reply() }
            var call = await Sample.call(service)
            call.member = "Other"
            await #expect(throws: BusError.refused(.unknownMethod("Other"))) {
                try await client.call(call)
            }
            call.interface = "a.b"
            await #expect(throws: BusError.refused(.unknownInterface("a.b"))) {
                try await client.call(call)
            }
            call.path = .root
            call.interface = "a.b"
            await #expect(throws: BusError.refused(.unknownInterface("a.b"))) {
                try await client.call(call)
            }
            call.destination = "ee.example.Nobody"
            let error = await #expect(throws: BusError.self) { try await client.call(call) }
            guard case .refused(let reply) = error else { throw BusError.disconnected }
            #expect(reply.isServiceGone)
        }
    }

    @Test func `a call that is not answered ends in its own time, and others go on`() async throws {
        try await withPair { service, client in
            let held = Monitor<[IncomingCall]>([])
            await service.export(Sample.description("y"), at: Sample.path) { call in
                if call.arguments == [.byte(0)] {
                    held.withLock { $0.append(call) }
                } else {
                    call.reply()
                }
            }
            let began = EventLoop.now
            await #expect(throws: BusError.timedOut) {
                try await client.call(
                    Sample.call(service, [.byte(0)], patience: .milliseconds(200))
                )
            }
            let took = began.duration(to: EventLoop.now)
            #expect(took >= .milliseconds(200) && took < .seconds(30))
            // The late answer is ignored.
            held.withLock { calls in
                for call in calls { call.reply(.string("late")) }
                calls = []
            }
            let next = try await client.call(Sample.call(service, [.byte(1)]))
            #expect(next == [])
        }
    }

    @Test func `a call that is dropped is answered with an error`() async throws {
        try await withPair { service, client in
            await service.export(Sample.description(), at: Sample.path) { _ in }
            await #expect(throws: BusError.refused(.notAnswered)) {
                try await client.call(Sample.call(service))
            }
        }
    }

    @Test func `a cancelled call ends at once`() async throws {
        try await withPair { service, client in
            let held = Monitor<[IncomingCall]>([])
            await service.export(Sample.description(), at: Sample.path) { call in
                held.withLock { $0.append(call) }
            }
            let call = await Sample.call(service, patience: .seconds(600))
            let result = await withTaskGroup(of: BusError?.self) { group in
                group.addTask {
                    do throws(BusError) {
                        _ = try await client.call(call)
                        return nil
                    } catch { return error }
                }
                try? await wait(for: "the call to arrive") { () async in
                    held.withLock { !$0.isEmpty }
                }
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(result == .cancelled)
            held.withLock { $0 = [] }
            #expect(await client.loop.onLoop { $0.timerCount } == 0)
        }
    }

    @Test func `more calls than a bus allows at once are all answered`() async throws {
        try await withPair { service, client in
            // Each call waits until 50 are open, or for the last one: the bus refuses the 129th
            // open call.
            let held = Monitor<[IncomingCall]>([])
            let most = Atomic(0)
            await service.export(Sample.description("u", gives: "u"), at: Sample.path) { call in
                let full = held.withLock { held -> [IncomingCall] in
                    held.append(call)
                    most.max(held.count, ordering: .relaxed)
                    guard held.count == 50 else { return [] }
                    defer { held = [] }
                    return held
                }
                for call in full { call.answer(.success(call.arguments)) }
            }
            let answers = try await withThrowingTaskGroup(of: [DBusValue].self) { group in
                for number in 0..<500 {
                    let call = await Sample.call(service, [.uint32(UInt32(number))])
                    group.addTask { try await client.call(call) }
                }
                return try await group.reduce(into: Set<[DBusValue]>()) { $0.insert($1) }
            }
            #expect(answers.count == 500)
        }
    }

    @Test func `no more than half of what a bus allows is under way at once`() async throws {
        try await withPair { service, client in
            let held = Monitor<(calls: [IncomingCall], isFree: Bool)>(([], false))
            await service.export(Sample.description("u", gives: "u"), at: Sample.path) { call in
                let isFree = held.withLock { held -> Bool in
                    if !held.isFree { held.calls.append(call) }
                    return held.isFree
                }
                if isFree { call.answer(.success(call.arguments)) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    let call = await Sample.call(service, [.uint32(UInt32(number))])
                    group.addTask { _ = try await client.call(call) }
                }
                // Calls of the other connection give the calls time to arrive, because the bus
                // keeps the order.
                for _ in 0..<200 { _ = try await service.owner(of: Sample.name) }
                let waiting = held.withLock { held in
                    held.isFree = true
                    return held.calls
                }
                #expect(waiting.count == 64)
                for call in waiting { call.answer(.success(call.arguments)) }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a limit of the bus is an error that can be told from others`() async throws {
        try await withPair { _, client in
            var refusal: BusError?
            for number in 0..<600 where refusal == nil {
                let rule = SignalRule(
                    interface: Sample.interface,
                    member: "Moved",
                    path: Sample.path.appending("at\(number)")
                )
                do throws(BusError) { _ = try await client.observe(rule) { _ in } } catch {
                    refusal = error
                }
            }
            guard case .refused(let reply) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect(reply.name == "org.freedesktop.DBus.Error.LimitsExceeded")
            // The connection still works.
            let owner = try await client.owner(of: Sample.name)
            #expect(owner == nil)
        }
    }

    @Test func `descriptors go both ways and none is left behind`() async {
        // Runs in a separate process, because other tests open and close descriptors meanwhile.
        await #expect(processExitsWith: .success) {
            try await withPair { service, client in
                await service.export(Sample.description("h", gives: "hq"), at: Sample.path) {
                    $0.reply($0.arguments[0], .uint16(247))
                }
                var counts: [Int] = []
                for round in 0..<60 {
                    if round == 10 || round == 59 { counts.append(openDescriptors()) }
                    let pair = try #require(UnixDescriptor.packetPair())
                    let answer = try await client.call(
                        Sample.call(service, [.descriptor(pair.theirs)]),
                        answering: "hq"
                    )
                    let received = try #require(answer[0].asDescriptor?.take())
                    let ours = try #require(pair.ours.take())
                    try #require(write(ours, "hello", 5) == 5)
                    var buffer = [UInt8](repeating: 0, count: 16)
                    try #require(read(received, &buffer, 16) == 5)
                    close(received)
                    close(ours)
                }
                try #require(counts[0] == counts[1])
            }
        }
    }

    @Test func `a name is asked for, given back, and its owner told`() async throws {
        try await withPair { service, client in
            let owners = Monitor<[String?]>([])
            let (observer, before) = try await client.observeOwner(of: Sample.name) { owner in
                owners.change { $0.append(owner) }
            }
            #expect(before == nil)
            #expect(try await service.requestName(Sample.name))
            #expect(try await !client.requestName(Sample.name))
            let owner = try await client.owner(of: Sample.name)
            #expect(await owner == service.uniqueName)
            try await service.releaseName(Sample.name)
            #expect(try await client.owner(of: Sample.name) == nil)
            await client.unobserve(observer)
            #expect(await owners.withLock { $0 } == [service.uniqueName, nil])
        }
    }
}

extension EventLoop {
    /// Runs `body` on the loop's thread, for reads that are allowed only there.
    func onLoop<R: Sendable>(_ body: @escaping @Sendable (EventLoop) -> R) async -> R {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: body(self)) }
        }
    }
}
