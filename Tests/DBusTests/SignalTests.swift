import Base
import BlueZ
import PrivateBus
import Testing

@Suite(.timeLimit(.minutes(5))) struct SignalTests {
    static let moved = Signal("Moved", of: Sample.interface, at: Sample.path, [.string("here")])

    /// Waits until all earlier signals have arrived: an answer does not overtake signals.
    private func fence(_ client: Connection, _ service: Connection) async throws {
        _ = try? await client.call(Sample.call(service))
    }

    static let rules: [(SignalRule, Bool)] = [
        (SignalRule(), true),
        (SignalRule(interface: Sample.interface), true),
        (SignalRule(interface: "a.b"), false),
        (SignalRule(member: "Moved"), true),
        (SignalRule(member: "Stayed"), false),
        (SignalRule(path: Sample.path), true),
        (SignalRule(path: .root), false),
        (SignalRule(pathNamespace: .root), true),
        (SignalRule(pathNamespace: ObjectPath("/ee/example")), true),
        (SignalRule(pathNamespace: ObjectPath("/ee/exam")), false),
        (SignalRule(firstArgument: "here"), true),
        (SignalRule(firstArgument: "there"), false),
        (SignalRule(from: Sample.name), true),
        (SignalRule(from: "ee.example.Other"), false),
    ]

    @Test(arguments: rules.indices)
    func `a rule lets through what it says`(index: Int) async throws {
        let (rule, expected) = Self.rules[index]
        try await withPair { service, client in
            #expect(try await service.requestName(Sample.name))
            let seen = Monitor<[Message]>([])
            let id = try await client.observe(rule) { message in
                guard message.interface == Sample.interface else { return }
                seen.withLock { $0.append(message) }
            }
            // Because of another rule the bus sends the signal in any case: our rule must still
            // filter it.
            let other = try await client.observe(SignalRule(path: Sample.path)) { _ in }
            try await service.emit(Self.moved)
            try await fence(client, service)
            let count = seen.withLock { $0.count }
            #expect(count == (expected ? 1 : 0))
            await client.unobserve(id)
            await client.unobserve(other)
            try await service.emit(Self.moved)
            try await fence(client, service)
            #expect(seen.withLock { $0.count } == count)
            // The rule about the owner of a name stays, because it is needed repeatedly.
            let tracked = rule.sender == nil ? 0 : 1
            let counts = await client.observerCounts
            #expect(counts.observers == tracked && counts.rules == tracked)
        }
    }

    @Test func `a signal that a stranger sends to us is not taken for the service's`() async throws
    {
        try await withPair { service, client in
            #expect(try await service.requestName(Sample.name))
            let seen = Monitor<[Message]>([])
            _ = try await client.observe(SignalRule(from: Sample.name)) { message in
                seen.withLock { $0.append(message) }
            }
            let stranger = try await Connection.open(
                BusAddress(client.address) ?? .system { _ in nil },
                on: client.loop
            )
            try await stranger.emit(Self.moved, to: client.uniqueName)
            try await stranger.emit(
                Signal(
                    "NameOwnerChanged",
                    of: "org.freedesktop.DBus",
                    at: ObjectPath("/org/freedesktop/DBus") ?? .root,
                    [.string(Sample.name), .string(""), .string(stranger.uniqueName)]
                ),
                to: client.uniqueName
            )
            try await stranger.emit(Self.moved, to: client.uniqueName)
            try await fence(client, stranger)
            #expect(seen.withLock { $0.isEmpty })
            try await service.emit(Self.moved)
            try await fence(client, service)
            #expect(seen.withLock { $0.count } == 1)
            await stranger.close()
        }
    }

    @Test func `signals follow a name to its next owner`() async throws {
        try await withPair { service, client in
            let seen = Monitor<[String?]>([])
            _ = try await client.observe(SignalRule(from: Sample.name)) { message in
                seen.withLock { $0.append(message.sender) }
            }
            try await service.emit(Self.moved)
            #expect(try await service.requestName(Sample.name))
            try await service.emit(Self.moved)
            try await service.releaseName(Sample.name)
            try await service.emit(Self.moved)
            try await fence(client, service)
            #expect(await seen.withLock { $0 } == [service.uniqueName])
        }
    }

    /// The owner of a name is looked up once for all observers, by the first one.
    @Test func `an observer that gives up at once leaves the name to the next one`() async throws {
        try await withPair { service, client in
            #expect(try await service.requestName(Sample.name))
            let rule = SignalRule(from: Sample.name)
            let error = await withTaskGroup(of: BusError?.self) { group in
                group.cancelAll()
                group.addTask {
                    do throws(BusError) {
                        _ = try await client.observe(rule) { _ in }
                        return nil
                    } catch { return error }
                }
                return await group.next() ?? nil
            }
            #expect(error == .cancelled)
            let seen = Monitor(0)
            _ = try await client.observe(rule) { _ in seen.withLock { $0 += 1 } }
            try await service.emit(Self.moved)
            try await fence(client, service)
            #expect(seen.withLock { $0 } == 1)
        }
    }

    @Test func `a stream keeps what it can hold and says what it dropped`() async throws {
        try await withPair { service, client in
            let taken = try await client.withSignals(
                SignalRule(member: "Moved"),
                capacity: 3
            ) { stream throws(BusError) in
                for number in 0..<10 {
                    try await service.emit(
                        Signal(
                            "Moved",
                            of: Sample.interface,
                            at: Sample.path,
                            [.string("\(number)")]
                        )
                    )
                }
                _ = try? await client.call(Sample.call(service))
                var taken: [String] = []
                for _ in 0..<4 {
                    switch await stream.next() {
                    case .signal(let message): taken.append(message.body[0].asString ?? "")
                    case .dropped(let count): taken.append("-\(count)")
                    case nil: taken.append("end")
                    }
                }
                return taken
            }
            #expect(taken == ["-7", "7", "8", "9"])
            #expect(await client.observerCounts == (0, 0))
        }
    }

    @Test func `a reader that waits is woken, and by cancelling too`() async throws {
        try await withPair { service, client in
            try await client.withSignals(SignalRule(member: "Moved"), capacity: 3) {
                stream throws(BusError) in
                let first = await withTaskGroup(of: SignalStream.Element?.self) { group in
                    group.addTask { await stream.next() }
                    await Task.yield()
                    try? await service.emit(Self.moved)
                    return await group.next() ?? nil
                }
                guard case .signal(let message) = first else {
                    Issue.record("no signal")
                    return
                }
                #expect(message.body == [.string("here")])
                let second = await withTaskGroup(of: SignalStream.Element?.self) { group in
                    group.addTask { await stream.next() }
                    await Task.yield()
                    group.cancelAll()
                    return await group.next() ?? nil
                }
                #expect(second == nil)
            }
        }
    }
}
