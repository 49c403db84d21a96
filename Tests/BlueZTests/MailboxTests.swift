import Base
import BlueZ
import Radio
import Testing

/// Elements wait in a mailbox until a task takes them.
@Suite struct MailboxTests {
    private func withMailbox(
        capacity: Int = 2,
        _ body: (Mailbox<Int>) async throws -> Void
    ) async throws {
        let loop = try EventLoop.start(name: "mailbox test")
        defer { loop.stop() }
        try await body(Mailbox(capacity: capacity, on: loop))
    }

    private static func taken(
        from mailbox: Mailbox<Int>,
        within time: Duration
    ) async -> Result<Int, RadioError> {
        do throws(RadioError) {
            return .success(try await mailbox.next(before: EventLoop.now.advanced(by: time)))
        } catch { return .failure(error) }
    }

    @Test(arguments: [Duration.zero, .milliseconds(-1), .milliseconds(1)])
    func `what comes after a look that found nothing is there for the next one`(
        time: Duration
    ) async throws {
        try await withMailbox { mailbox in
            let nothing = await Self.taken(from: mailbox, within: time)
            #expect(nothing == .failure(.timedOut))
            mailbox.add(1)
            mailbox.add(2)
            #expect(await Self.taken(from: mailbox, within: .zero) == .success(1))
            #expect(await Self.taken(from: mailbox, within: .seconds(1)) == .success(2))
        }
    }

    @Test func `who waits is given what comes`() async throws {
        try await withMailbox { mailbox in
            async let waiting = Self.taken(from: mailbox, within: .seconds(30))
            mailbox.add(7)
            #expect(await waiting == .success(7))
        }
    }

    private static func offered(
        from mailbox: Mailbox<Int>,
        until last: Int,
        to heard: Monitor<[Int]>
    ) async -> RadioError? {
        do throws(RadioError) {
            try await mailbox.next(before: EventLoop.now.advanced(by: .seconds(30))) { element in
                heard.withLock { $0.append(element) }
                return element < last
            }
            return nil
        } catch { return error }
    }

    @Test func `elements are offered until no more are wanted, and later ones wait`() async throws {
        try await withMailbox(capacity: 10) { mailbox in
            let heard = Monitor<[Int]>([])
            mailbox.add(1)
            async let waiting = Self.offered(from: mailbox, until: 4, to: heard)
            for number in 2...6 { mailbox.add(number) }
            #expect(await waiting == nil)
            #expect(heard.withLock { $0 } == [1, 2, 3, 4])
            #expect(await Self.taken(from: mailbox, within: .zero) == .success(5))
            #expect(await Self.taken(from: mailbox, within: .zero) == .success(6))
        }
    }

    @Test func `a wait in which elements are offered ends with its task, and with the mailbox`()
        async throws
    {
        try await withMailbox { mailbox in
            let heard = Monitor<[Int]>([])
            let waiting = Task { await Self.offered(from: mailbox, until: 9, to: heard) }
            waiting.cancel()
            #expect(await waiting.value == .cancelled)
            mailbox.add(1)
            #expect(heard.withLock { $0 } == [], "nothing is offered to who has gone")
            async let last = Self.offered(from: mailbox, until: 9, to: heard)
            mailbox.end(.linkLost)
            #expect(await last == .linkLost)
            #expect(heard.withLock { $0 } == [1])
        }
    }
}
