import Commands
import Operations
import Threads

/// Requests on their way from the servers' threads to the one task that carries them out.
final class ControlQueue: Sendable {
    private typealias Answer<Value: Sendable> = Monitor<Result<Value, CommandError>?>

    private enum Item: Sendable {
        case free(SteeringRequest, Answer<SteeringAnswer>)
        case once(SteeringRequest, RequestKey, Answer<KeyedAnswer>)
    }

    private let items: AsyncStream<Item>
    private let source: AsyncStream<Item>.Continuation

    init() { (items, source) = AsyncStream.makeStream() }

    /// Waits for the answer: for a thread that may wait, and none of Swift's pool.
    func perform(_ request: SteeringRequest) -> Result<SteeringAnswer, CommandError> {
        let answer = Answer<SteeringAnswer>(nil)
        return wait(for: answer, of: .free(request, answer))
    }

    /// The same for a request that its sender may send again.
    func perform(
        _ request: SteeringRequest,
        once key: RequestKey
    ) -> Result<KeyedAnswer, CommandError> {
        let answer = Answer<KeyedAnswer>(nil)
        return wait(for: answer, of: .once(request, key, answer))
    }

    private func wait<Value>(
        for answer: Answer<Value>,
        of item: Item
    ) -> Result<Value, CommandError> {
        guard case .enqueued = source.yield(item) else {
            return .failure(CommandError(.unavailable, "the pages are about to end"))
        }
        return answer.wait { $0 }
    }

    /// Until `finish`, after which what has come is still carried out.
    func work(_ requests: OperatorRequests) async {
        for await item in items {
            switch item {
            case .free(let request, let answer):
                let result: Result<SteeringAnswer, CommandError>
                do throws(CommandError) {
                    result = .success(try await requests.perform(request))
                } catch { result = .failure(error) }
                answer.change { $0 = result }
            case .once(let request, let key, let answer):
                let result: Result<KeyedAnswer, CommandError>
                do throws(CommandError) {
                    result = .success(try await requests.perform(request, once: key))
                } catch { result = .failure(error) }
                answer.change { $0 = result }
            }
        }
    }

    func finish() { source.finish() }
}
