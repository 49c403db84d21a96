import CCurl
import Domain
import Glibc
import Synchronization

/// The one thread on which libcurl works, and the door to it.
///
/// Everything that is libcurl's is touched on that thread alone; the door is a list of wishes and a
/// bell. The thread starts the library, so that nobody else waits for it.
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
        /// Nil before the library is there and after the thread ended.
        nonisolated(unsafe) var multi: UnsafeMutableRawPointer?  // only ever woken from outside
        /// Whether the thread was woken since it last looked at the wishes.
        var isWoken = false
        var nextID = 0
        /// Set when nobody will answer any more.
        var refusal: DownloadError?
    }

    private let door = Mutex(Door())
    // Written once, before the loop is handed to anybody.
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

    /// Ends what is under way as cancelled, and the thread; returns when it is gone.
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

    /// For the thread: nothing can be done, now and later, because of that.
    func close(_ error: DownloadError) {
        let wishes = door.withLock { door in
            door.refusal = error
            defer { door.wishes = [] }
            return door.wishes
        }
        for wish in wishes { Self.refuse(wish, error) }
    }

    /// For the thread: from now on it can be woken, or no more.
    func open(_ multi: UnsafeMutableRawPointer?) { door.withLock { $0.multi = multi } }

    /// For the thread: what is wished since the last time.
    func wishes() -> [Wish] {
        door.withLock { door in
            door.isWoken = false
            defer { door.wishes = [] }
            return door.wishes
        }
    }
}
