import Base
import CCurl
import Glibc

/// The code that runs on the thread of a loop: it is created, used and ended there.
final class CurlThread {
    private let loop: CurlLoop
    private var active: [Int: CurlTransfer] = [:]
    private var exchanges: [Int: Exchange] = [:]
    private let handles = CurlHandles()

    init(loop: CurlLoop) { self.loop = loop }

    func run() {
        takeName()
        if let problem = curl_load() {
            return loop.close(.noLibrary(String(cString: problem).visible))
        }
        guard let multi = curl_multi_begin() else {
            return loop.close(.noLibrary("out of memory"))
        }
        curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 16)
        loop.open(multi)
        while fulfil(multi) {
            var running: Int32 = 0
            curl_multi_go(multi, &running)
            collect(multi)
            // A wake-up ends the wait immediately, so its length does not matter.
            curl_multi_wait_for(multi, 60_000)
        }
        loop.open(nil)
        for transfer in active.values.sorted(by: { $0.id < $1.id }) {
            transfer.end(.failure(.cancelled), in: multi)
        }
        handles.end()
        curl_multi_end(multi)
    }

    /// Handles the requests; returns false after the request to stop.
    private func fulfil(_ multi: UnsafeMutableRawPointer) -> Bool {
        var goesOn = true
        for wish in loop.wishes() {
            switch wish {
            case .begin(let exchange, let request, let taker, let continuation):
                let transfer = CurlTransfer(
                    exchange.id,
                    request,
                    taker,
                    continuation,
                    handles
                )
                // The request to cancel may have arrived before the one to begin.
                if let error = exchange.cancellation ?? transfer.begin(in: multi) {
                    transfer.end(.failure(error), in: multi)
                } else {
                    active[exchange.id] = transfer
                    exchanges[exchange.id] = exchange
                }
            case .goOn(let id): active[id]?.goOn()
            case .flush(let id): active[id]?.flush()
            case .cancel(let id):
                guard let transfer = active.removeValue(forKey: id) else { continue }
                let error = exchanges.removeValue(forKey: id)?.cancellation
                transfer.end(.failure(error ?? .cancelled), in: multi)
            case .stop: goesOn = false
            }
        }
        return goesOn
    }

    private func collect(_ multi: UnsafeMutableRawPointer) {
        var code = CURLE_OK
        while let easy = curl_multi_ended(multi, &code) {
            guard let transfer = CurlTransfer.of(easy) else { continue }
            if transfer.follows(code, in: multi) { continue }
            active[transfer.id] = nil
            exchanges[transfer.id] = nil
            transfer.end(transfer.result(of: code), in: multi)
        }
    }

    /// Sets the name through a file, because the Glibc module does not contain
    /// `pthread_setname_np`.
    private func takeName() {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        // The name is not essential: an error is ignored.
        _ = Array("curl".utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}

/// Handles of transfers that went well, for new ones: creating a handle costs more than resetting one.
///
/// Used only on the loop's thread.
final class CurlHandles {
    private static let size = 16

    private var free: [UnsafeMutableRawPointer] = []

    /// Nil when there is no memory for one.
    func take() -> UnsafeMutableRawPointer? { free.popLast() ?? curl_easy_begin() }

    func putBack(_ easy: UnsafeMutableRawPointer) {
        guard free.count < Self.size else { return curl_easy_end(easy) }
        curl_easy_renew(easy)
        free.append(easy)
    }

    func end() {
        for easy in free { curl_easy_end(easy) }
        free = []
    }
}
