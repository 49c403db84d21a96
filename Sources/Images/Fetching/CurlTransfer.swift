import Base
import CCurl

/// One transfer of libcurl; used only on the loop's thread.
final class CurlTransfer {
    let id: Int
    private let request: ExchangeRequest
    private let taker: any ResponseTaker
    private let continuation: CheckedContinuation<CurlLoop.CurlResult, Never>
    private let handles: CurlHandles
    private var easy: UnsafeMutableRawPointer?
    private var list: UnsafeMutablePointer<curl_slist>?
    private var head = ResponseHead()
    private var hasBegun = false
    private var redirects: Redirects
    /// The time of the earlier transfers of this one, which ended in a redirect.
    private var spent = Duration.zero
    /// Our own reason for ending it, which libcurl knows only as a failed write.
    private var verdict: DownloadError?
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init(
        _ id: Int,
        _ request: ExchangeRequest,
        _ taker: any ResponseTaker,
        _ continuation: CheckedContinuation<CurlLoop.CurlResult, Never>,
        _ handles: CurlHandles
    ) {
        self.id = id
        self.request = request
        self.taker = taker
        self.continuation = continuation
        self.handles = handles
        redirects = Redirects(from: request.address, limit: request.redirects)
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { words.deallocate() }

    /// The transfer of a handle.
    static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        var pointer: UnsafeMutableRawPointer?
        guard curl_easy_info_pointer(easy, &pointer) == CURLE_OK, let pointer else { return nil }
        return Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Starts it; returns the error when that is impossible.
    func begin(in multi: UnsafeMutableRawPointer) -> DownloadError? {
        guard let easy = handles.take() else { return .noLibrary("out of memory") }
        self.easy = easy
        var options = CurlOptions(easy)
        options.request(request)
        list = options.list
        options.safety(request)
        options.patience(request)
        let own = Unmanaged.passUnretained(self).toOpaque()
        options.set(CURLOPT_PRIVATE, own)
        options.set(CURLOPT_HEADERDATA, own)
        options.set(CURLOPT_WRITEDATA, own)
        options.set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(words))
        options.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, own in
            guard let bytes, let own else { return 0 }
            return Unmanaged<CurlTransfer>.fromOpaque(own).takeUnretainedValue()
                .takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        options.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, own in
            guard let bytes, let own else { return 0 }
            return Unmanaged<CurlTransfer>.fromOpaque(own).takeUnretainedValue()
                .takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        if let refusal = options.refusal {
            return .noLibrary("it does not know an option that we need (\(refusal))")
        }
        guard curl_multi_add(multi, easy) == CURLM_OK else {
            return .noLibrary("it refuses the transfer")
        }
        return nil
    }

    /// Whether the answer is a redirect that is followed: the transfer then runs again.
    func follows(_ code: CURLcode, in multi: UnsafeMutableRawPointer) -> Bool {
        guard code == CURLE_OK, verdict == nil, !hasBegun, let easy,
            redirects.follows(status: head.status)
        else { return false }
        var place: UnsafePointer<CChar>?
        curl_easy_info_text(easy, CURLINFO_REDIRECT_URL, &place)
        guard let text = place.map({ String(cString: $0) }) else { return false }
        do throws(DownloadError) {
            var options = CurlOptions(easy)
            options.address(try redirects.next(text))
            spent += elapsed
            options.deadline(request.deadline - spent)
            guard options.refusal == nil else {
                throw .badAnswer("it redirects to an invalid address")
            }
        } catch {
            verdict = error
            return false
        }
        head = ResponseHead()
        curl_multi_remove(multi, easy)
        return curl_multi_add(multi, easy) == CURLM_OK
    }

    /// The duration of the latest of its transfers.
    private var elapsed: Duration {
        var microseconds: curl_off_t = 0
        if let easy { curl_easy_info_offset(easy, CURLINFO_TOTAL_TIME_T, &microseconds) }
        return .microseconds(max(0, Int64(microseconds)))
    }

    func goOn() {
        if let easy { _ = curl_easy_go_on(easy) }
    }

    func flush() { taker.flush() }

    /// Frees everything and reports the result; to be called once.
    func end(_ result: CurlLoop.CurlResult, in multi: UnsafeMutableRawPointer) {
        if let easy {
            curl_multi_remove(multi, easy)
            // After an error some versions keep the buffer, and refuse to set its size again.
            if case .success = result { handles.putBack(easy) } else { curl_easy_end(easy) }
            self.easy = nil
            curl_list_free(list)
            list = nil
        }
        taker.end()
        continuation.resume(returning: result)
    }

    /// The meaning of libcurl's code for the end, which is never trusted alone.
    func result(of code: CURLcode) -> CurlLoop.CurlResult {
        if let verdict { return .failure(verdict) }
        guard code == CURLE_OK else {
            return .failure(
                CurlFault(
                    code: code,
                    words: String(cString: words),
                    request: request,
                    proxyStatus: proxyStatus,
                    wasRedirected: redirects.count > 0,
                    elapsed: spent + elapsed,
                    hasAnswered: head.status != 0,
                    hasBegun: hasBegun
                ).meaning
            )
        }
        if !hasBegun, let error = startBody() { return .failure(error) }
        return .success(head)
    }

    private var proxyStatus: Int {
        var status = 0
        if let easy { curl_easy_info_long(easy, CURLINFO_HTTP_CONNECTCODE, &status) }
        return status
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Int {
        // Headers after the body are ignored.
        guard !hasBegun else { return line.count }
        head.take([UInt8](line))
        if let fault = head.fault {
            verdict = .badAnswer(fault)
            return 0
        }
        return line.count
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if !hasBegun, redirects.follows(status: head.status), head.hasLocation {
            guard redirects.skip(bytes.count) else {
                verdict = .badAnswer("the body of a redirect does not end")
                return 0
            }
            return bytes.count
        }
        if !hasBegun, let error = startBody() {
            verdict = error
            return 0
        }
        switch taker.take(bytes) {
        case .taken: return bytes.count
        case .later: return Int(CURL_WRITEFUNC_PAUSE)
        case .refused(let error):
            verdict = error
            return 0
        }
    }

    /// Earlier answers (100, 103, followed redirects) have no body that arrives here.
    private func startBody() -> DownloadError? {
        hasBegun = true
        let error = taker.begin(head)
        guard case .status(let code, nil)? = error else { return error }
        return .status(code, retryAfter: head.retryAfter?.duration(from: request.askedAt))
    }
}
