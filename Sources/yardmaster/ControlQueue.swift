import Commands
import Operations
import Threads

/// Requests on their way from the servers' threads to the one task that carries them out.
final class ControlQueue: Sendable {
    private struct Item: Sendable {
        let request: SteeringRequest
        let answer: Monitor<Result<SteeringAnswer, CommandError>?>
    }

    private let items: AsyncStream<Item>
    private let source: AsyncStream<Item>.Continuation

    init() { (items, source) = AsyncStream.makeStream() }

    /// Waits for the answer: for a thread that may wait, and none of Swift's pool.
    func perform(_ request: SteeringRequest) -> Result<SteeringAnswer, CommandError> {
        let item = Item(request: request, answer: Monitor(nil))
        guard case .enqueued = source.yield(item) else {
            return .failure(CommandError(.unavailable, "the pages are about to end"))
        }
        return item.answer.wait { $0 }
    }

    /// Until `finish`, after which what has come is still carried out.
    func work(_ desk: ControlDesk) async {
        for await item in items {
            let result: Result<SteeringAnswer, CommandError>
            do throws(CommandError) {
                result = .success(try await desk.perform(item.request))
            } catch { result = .failure(error) }
            item.answer.change { $0 = result }
        }
    }

    func finish() { source.finish() }
}
