import Base
import BlueZ
import PrivateBus
import Testing
import Workbench

@Suite(.timeLimit(.minutes(5))) struct LossTests {
    @Test(arguments: [
        "unix:path=/nonexistent/bus", "nonsense", "unix:", "tcp:host=127.0.0.1,port=1", "\0",
    ])
    func `where no bus is, the error says so`(address: String) async throws {
        let loop = try EventLoop.start(name: "test")
        let address = try #require(BusAddress(address))
        let error = await #expect(throws: BusError.self) {
            try await Connection.open(address, on: loop)
        }
        guard case .unreachable(let words) = error else {
            Issue.record("\(error as Any)")
            return loop.stop()
        }
        #expect(!words.isEmpty)
        loop.stop()
    }

    @Test func `the end of the bus fails calls, ends streams and not the process`() async throws {
        try await withBus { bus, loop, address in
            let service = try await Connection.open(address, on: loop)
            let client = try await Connection.open(address, on: loop)
            let held = Monitor<[IncomingCall]>([])
            await service.export(Sample.description(), at: Sample.path) { call in
                held.withLock { $0.append(call) }
            }
            let losses = Monitor(0)
            await client.onLoss { losses.change { $0 += 1 } }
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
                bus.stop()
                return await group.next() ?? nil
            }
            #expect(result == .disconnected)
            #expect(await !client.isOpen)
            #expect(losses.withLock { $0 } == 1)
            await #expect(throws: BusError.disconnected) { try await client.call(call) }
            await #expect(throws: BusError.disconnected) {
                try await client.observe(SignalRule()) { _ in }
            }
            // Answers to a bus that is gone are dropped silently.
            held.withLock { $0 = [] }
            await service.close()
            await client.close()
            #expect(await loop.onLoop { [$0.watchCount, $0.timerCount] } == [0, 0])
        }
    }

    @Test func `a bus that comes back is connected to again`() async throws {
        try await withBus { daemon, loop, address in
            let bus = Bus(address, on: loop)
            let first = try await bus.connection()
            #expect(try await bus.connection() === first)
            daemon.stop()
            for _ in 0..<3 {
                await #expect(throws: BusError.self) {
                    let connection = try await bus.connection()
                    _ = try await connection.owner(of: "a.b")
                }
            }
            try daemon.start()
            let second = try await bus.connection()
            #expect(second !== first)
            #expect(try await second.owner(of: "a.b") == nil)
            await bus.close()
            await #expect(throws: BusError.disconnected) { try await bus.connection() }
        }
    }

    @Test func `connections that come and go leave nothing behind`() async {
        // Runs in a separate process, because other tests open and close descriptors meanwhile.
        await #expect(processExitsWith: .success) {
            try await withBus { _, loop, address in
                var counts: [Int] = []
                for round in 0..<200 {
                    let connection = try await Connection.open(address, on: loop)
                    _ = try await connection.observe(SignalRule(from: "a.b")) { _ in }
                    // Those that nobody closes are closed when nobody has them any more.
                    if round % 2 == 0 { await connection.close() }
                    if round == 20 || round == 199 { counts.append(openDescriptors()) }
                }
                try #require(abs(counts[0] - counts[1]) <= 1)
                let timers = await loop.onLoop { $0.timerCount }
                try #require(timers == 0)
            }
        }
    }
}
