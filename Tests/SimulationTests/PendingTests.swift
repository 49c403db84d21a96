import Radio
import Testing

@testable import Simulation

@Suite struct PendingTests {
    @Test func `a task that waits for a result gets it`() async throws {
        let pending = Pending<Int>()
        await withUnsafeContinuation { continuation in
            pending.wait(continuation)
            pending.resume(.success(1))
        }
        #expect(try pending.result?.get() == 1)
    }

    @Test func `a result that was there before the task waits is not lost`() async throws {
        let pending = Pending<Int>()
        pending.fail(.linkLost)
        pending.resume(.success(1))
        await withUnsafeContinuation { pending.wait($0) }
        #expect(throws: RadioError.linkLost) { try pending.result?.get() }
    }
}
