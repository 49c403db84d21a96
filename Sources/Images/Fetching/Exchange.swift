import Base
import Synchronization

/// One request to a web server.
struct ExchangeRequest: Sendable {
    let address: WebAddress
    /// The first byte that is requested.
    var from = 0
    /// The file must still match this validator for the server to send a part of it.
    var validator: String?
    /// Complete header lines of a request without a body.
    var headers: [String] = []
    /// The message that is sent; nil for a request without a body.
    var message: Message?
    /// The number of redirects that may be followed.
    var redirects = 0
    let deadline: Duration
    /// The time from which a server's "not before this time" is counted.
    let askedAt: WallTime
    let settings: FetchSettings

    struct Message: Sendable {
        var method = "POST"
        /// Complete header lines.
        let headers: [String]
        let body: [UInt8]
    }
}

/// One request in progress, whose answer goes to a taker.
final class Exchange: Sendable {
    let id: Int
    private let loop: CurlLoop
    private let verdict = Mutex<DownloadError?>(nil)

    init(id: Int, loop: CurlLoop) {
        self.id = id
        self.loop = loop
    }

    /// The reason why it was ended from outside; nil while it was not.
    var cancellation: DownloadError? { verdict.withLock { $0 } }

    /// Sends the request and returns when the answer is complete; ends early when the task is
    /// cancelled.
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

    /// Passes the taker the bytes that it postponed.
    func goOn() { loop.tell(.goOn(id)) }

    /// Makes the taker pass on the bytes that it holds back.
    func flush() { loop.tell(.flush(id)) }

    /// Ends it now, or as soon as it begins; its result is the first such error.
    func cancel(_ error: DownloadError) {
        verdict.withLock { $0 = $0 ?? error }
        loop.tell(.cancel(id))
    }
}
