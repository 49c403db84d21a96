import Domain
import Synchronization

/// One request to a web server.
struct ExchangeRequest: Sendable {
    let address: WebAddress
    /// The first byte that is asked for.
    var from = 0
    /// What the file must still be for the server to send a part of it.
    var validator: String?
    /// Whole lines that are sent with a question.
    var headers: [String] = []
    /// What is sent to it, when it is not just asked.
    var message: Message?
    /// How many redirects are followed.
    var redirects = 0
    let deadline: Duration
    /// What a server's "not before that time" is counted from.
    let askedAt: WallTime
    let settings: FetchSettings

    struct Message: Sendable {
        /// Whole lines.
        let headers: [String]
        let body: [UInt8]
    }
}

/// One request under way, with its answer going to a taker.
final class Exchange: Sendable {
    let id: Int
    private let loop: CurlLoop
    private let verdict = Mutex<DownloadError?>(nil)

    init(id: Int, loop: CurlLoop) {
        self.id = id
        self.loop = loop
    }

    /// Why it was ended from outside, nil while it was not.
    var cancellation: DownloadError? { verdict.withLock { $0 } }

    /// Asks, and returns when the answer is over; ends it early when the task is cancelled.
    func run(_ request: ExchangeRequest, into taker: any ResponseTaker) async -> CurlLoop.CurlResult
    {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.tell(.begin(self, request, taker, continuation))
            }
        } onCancel: {
            cancel(.cancelled)
        }
    }

    /// Lets the taker have the bytes that it put off.
    func goOn() { loop.tell(.goOn(id)) }

    /// Makes the taker pass on what it holds back.
    func flush() { loop.tell(.flush(id)) }

    /// Ends it now, or as soon as it begins; its result is the first such error.
    func cancel(_ error: DownloadError) {
        verdict.withLock { $0 = $0 ?? error }
        loop.tell(.cancel(id))
    }
}
