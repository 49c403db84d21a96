import Base
import Commands
package import Operations

/// Requests on their way from the servers' threads to the one task that carries them out.
package final class ControlQueue: Sendable {
    private typealias Item = @Sendable (OperatorRequests) async -> Void

    private let items: AsyncStream<Item>
    private let source: AsyncStream<Item>.Continuation

    package init() { (items, source) = AsyncStream.makeStream() }

    /// Waits for the answer; only for a thread that may block, never one of Swift's pool.
    func perform(_ request: SteeringRequest) -> Result<SteeringAnswer, CommandError> {
        wait { requests throws(CommandError) in try await requests.perform(request) }
    }

    /// The same for a request that its sender may send again.
    func perform(
        _ request: SteeringRequest,
        once key: RequestKey
    ) -> Result<KeyedAnswer, CommandError> {
        wait { requests throws(CommandError) in try await requests.perform(request, once: key) }
    }

    private func wait<Value: Sendable>(
        for act: @escaping @Sendable (OperatorRequests) async throws(CommandError) -> Value
    ) -> Result<Value, CommandError> {
        let answer = Monitor<Result<Value, CommandError>?>(nil)
        let item: Item = { requests in
            let result: Result<Value, CommandError>
            do throws(CommandError) {
                result = .success(try await act(requests))
            } catch { result = .failure(error) }
            answer.change { $0 = result }
        }
        guard case .enqueued = source.yield(item) else {
            return .failure(CommandError(.unavailable, "the pages are about to end"))
        }
        return answer.wait { $0 }
    }

    /// Carries out requests until `finish`, and then those that have already arrived.
    package func work(_ requests: OperatorRequests) async {
        for await item in items { await item(requests) }
    }

    package func finish() { source.finish() }
}
