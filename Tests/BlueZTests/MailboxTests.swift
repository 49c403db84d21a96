import Base
import BlueZ
import Radio
import Testing

/// Elements wait in a mailbox until a task takes them.
@Suite struct MailboxTests {
    private func withMailbox(
        _ body: (Mailbox<Int>) async throws -> Void
    ) async throws {
        let loop = try EventLoop.start(name: "mailbox test")
        defer { loop.stop() }
        try await body(Mailbox(capacity: 2, on: loop))
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
}
