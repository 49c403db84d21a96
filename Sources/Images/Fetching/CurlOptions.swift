import Base
import CCurl

/// Sets the options of a handle, and remembers the first one that the library refuses.
///
/// A refused option is never ignored: most options are there for safety.
struct CurlOptions {
    private let easy: UnsafeMutableRawPointer
    private(set) var refusal: String?

    init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

    /// Sets the request: address, headers, range and body.
    mutating func request(_ request: ExchangeRequest) {
        address(request.address)
        set(CURLOPT_USERAGENT, "yardmaster")
        // The creator of the address has encoded its names; they must not be changed.
        set(CURLOPT_PATH_AS_IS, 1)
        // One connection for each file: over TLS that is a third faster than streams in one
        // connection.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // The digest is computed over the bytes as the server stores them: nothing may be inflated
        // on the way.
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        // This size fits into the processor's cache between the socket and the chunk.
        set(CURLOPT_BUFFERSIZE, 60 << 10)
        if let message = request.message {
            set(CURLOPT_POST, 1)
            if message.method != "POST" { set(CURLOPT_CUSTOMREQUEST, message.method) }
            // Set before the bytes, which the library copies.
            set(CURLOPT_POSTFIELDSIZE, message.body.count)
            set(CURLOPT_COPYPOSTFIELDS, String(decoding: message.body, as: UTF8.self))
            // Without this the library would wait for the server's permission.
            headers(message.headers + ["Expect:"])
            return
        }
        var lines = request.headers
        if request.from > 0 {
            // Not the option for resuming: with it, libcurl takes an answer whose length happens to
            // be the offset for "nothing is missing". The taker checks the answer.
            set(CURLOPT_RANGE, "\(request.from)-")
            if let validator = request.validator { lines.append("If-Range: \(validator)") }
        }
        if !lines.isEmpty { headers(lines) }
    }

    /// The current address: apart from the time that is left, a redirect changes nothing else.
    mutating func address(_ address: WebAddress) {
        set(CURLOPT_URL, address.text)
        set(CURLOPT_PROTOCOLS_STR, address.scheme.rawValue)
    }

    mutating func deadline(_ deadline: Duration) {
        set(CURLOPT_TIMEOUT_MS, Self.milliseconds(deadline))
    }

    /// Sets which servers, protocols and certificates are allowed.
    mutating func safety(_ request: ExchangeRequest) {
        // libcurl would follow a redirect from https back to http if the first address was http.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_UNRESTRICTED_AUTH, 0)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        let settings = request.settings
        if let authorities = settings.authorities {
            set(CURLOPT_CAINFO, authorities)
            // Only these: otherwise the system's certificates would be trusted, too.
            set(CURLOPT_CAPATH, nil)
        }
        if let certificate = settings.certificate { set(CURLOPT_SSLCERT, certificate) }
        if let key = settings.key { set(CURLOPT_SSLKEY, key) }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let proxy = settings.proxy { set(CURLOPT_PROXY, proxy.text) }
        if let hosts = settings.withoutProxy { set(CURLOPT_NOPROXY, hosts) }
    }

    /// Sets the time limits.
    mutating func patience(_ request: ExchangeRequest) {
        let settings = request.settings
        // Otherwise a timeout during a name lookup would end the process with a signal.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTimeout))
        set(CURLOPT_LOW_SPEED_LIMIT, settings.leastSpeed)
        // libcurl detects silence; slow servers are detected by `RateWatch`.
        set(CURLOPT_LOW_SPEED_TIME, max(1, Int(settings.slowness.components.seconds)))
        deadline(request.deadline)
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(max(1, min(duration.nanoseconds / 1_000_000, Int64(Int32.max))))
    }

    private mutating func headers(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_list_append(list, line) ?? list }
        note(CURLOPT_HTTPHEADER, curl_easy_set_list(easy, CURLOPT_HTTPHEADER, list))
        self.list = list
    }

    /// To be freed after the handle.
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    mutating func set(_ option: CURLoption, _ value: Int) {
        note(option, curl_easy_set_long(easy, option, value))
    }

    mutating func set(_ option: CURLoption, _ value: String?) {
        note(option, curl_easy_set_text(easy, option, value))
    }

    mutating func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        note(option, curl_easy_set_pointer(easy, option, value))
    }

    mutating func set(
        _ option: CURLoption,
        _ taker:
            @convention(c) (
                UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?
            ) -> Int
    ) {
        note(option, curl_easy_set_taker(easy, option, taker))
    }

    private mutating func note(_ option: CURLoption, _ code: CURLcode) {
        guard code != CURLE_OK, refusal == nil else { return }
        refusal = "\(option.rawValue): \(String(cString: curl_easy_words(code)))"
    }
}
