import Base
import CCurl
import Glibc
import Synchronization

/// The only thread on which libcurl runs, and the queue of requests to it.
///
/// Everything of libcurl is used on that thread only; other threads add requests to the queue and
/// wake it. The thread loads the library, so that no other thread waits for that.
final class CurlLoop: Sendable {
    enum Wish: Sendable {
        case begin(
            Exchange,
            ExchangeRequest,
            any ResponseTaker,
            CheckedContinuation<CurlResult, Never>
        )
        case goOn(Int)
        case flush(Int)
        case cancel(Int)
        case stop
    }

    typealias CurlResult = Result<ResponseHead, DownloadError>

    private struct Door: Sendable {
        var wishes: [Wish] = []
        /// Nil before the library is loaded and after the thread ended.
        nonisolated(unsafe) var multi: UnsafeMutableRawPointer?  // used elsewhere only to wake it
        /// Whether the thread was woken since it last took the requests.
        var isWoken = false
        var nextID = 0
        /// Set when the thread handles no further requests.
        var refusal: DownloadError?
    }

    private let door = Mutex(Door())
    // Written once, before the loop is passed to another thread.
    private nonisolated(unsafe) var thread = pthread_t()
    private let isJoined = Atomic(false)

    private init() {}

    static func start() throws(DownloadError) -> CurlLoop {
        let loop = CurlLoop()
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let held = Unmanaged.passRetained(loop)
        let code = pthread_create(
            &loop.thread,
            nil,
            { argument in
                guard let argument else { return nil }
                let loop = Unmanaged<CurlLoop>.fromOpaque(argument).takeRetainedValue()
                CurlThread(loop: loop).run()
                return nil
            },
            held.toOpaque()
        )
        guard code == 0 else {
            held.release()
            throw .configuration("no thread can be started: \(String(cString: strerror(code)))")
        }
        return loop
    }

    /// Ends the current transfers as cancelled, and then the thread; returns when the thread has
    /// ended.
    func stop() {
        guard !isJoined.exchange(true, ordering: .relaxed) else { return }
        tell(.stop)
        pthread_join(thread, nil)
    }

    func exchange() -> Exchange {
        let id = door.withLock { door in
            door.nextID += 1
            return door.nextID
        }
        return Exchange(id: id, loop: self)
    }

    func tell(_ wish: Wish) {
        let refusal = door.withLock { door -> DownloadError? in
            if let refusal = door.refusal { return refusal }
            door.wishes.append(wish)
            if case .stop = wish { door.refusal = .cancelled }
            if let multi = door.multi, !door.isWoken {
                door.isWoken = true
                curl_multi_wake(multi)
            }
            return nil
        }
        if let refusal { Self.refuse(wish, refusal) }
    }

    private static func refuse(_ wish: Wish, _ error: DownloadError) {
        guard case .begin(_, _, let taker, let continuation) = wish else { return }
        taker.end()
        continuation.resume(returning: .failure(error))
    }

    /// Called by the thread: refuses all requests from now on with this error.
    func close(_ error: DownloadError) {
        let wishes = door.withLock { door in
            door.refusal = error
            defer { door.wishes = [] }
            return door.wishes
        }
        for wish in wishes { Self.refuse(wish, error) }
    }

    /// Called by the thread: from now on it can be woken; with nil, no longer.
    func open(_ multi: UnsafeMutableRawPointer?) { door.withLock { $0.multi = multi } }

    /// Called by the thread: takes the requests since the last call.
    func wishes() -> [Wish] {
        door.withLock { door in
            door.isWoken = false
            defer { door.wishes = [] }
            return door.wishes
        }
    }
}
