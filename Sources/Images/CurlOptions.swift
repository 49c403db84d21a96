import CCurl
import Domain

/// What is set on a handle; remembers the first option that the library does not take.
///
/// An option that is not taken is never passed over: most of them are there for safety.
struct CurlOptions {
    private let easy: UnsafeMutableRawPointer
    private(set) var refusal: String?

    init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

    /// What is asked for.
    mutating func request(_ request: ExchangeRequest) {
        address(request.address)
        set(CURLOPT_USERAGENT, "yardmaster")
        // Names are encoded by anyone who made the address; nobody takes them apart again.
        set(CURLOPT_PATH_AS_IS, 1)
        // One connection for each file: over TLS that is a third quicker than streams in one.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // The digest is over the bytes as they are stored there, and nothing inflates on the way.
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        // So much stays in the processor's cache between the socket and the chunk, and is no burden
        // to anyone who gives us memory.
        set(CURLOPT_BUFFERSIZE, 60 << 10)
        if let message = request.message {
            set(CURLOPT_POST, 1)
            // Before the bytes, which the library copies.
            set(CURLOPT_POSTFIELDSIZE, message.body.count)
            set(CURLOPT_COPYPOSTFIELDS, String(decoding: message.body, as: UTF8.self))
            // It would wait for a server's leave.
            headers(message.headers + ["Expect:"])
            return
        }
        var lines = request.headers
        if request.from > 0 {
            // Not the option for resuming, which takes an answer for "nothing is missing" when its
            // length happens to be the offset; what comes back is checked by the taker.
            set(CURLOPT_RANGE, "\(request.from)-")
            if let validator = request.validator { lines.append("If-Range: \(validator)") }
        }
        if !lines.isEmpty { headers(lines) }
    }

    /// Where it goes now: the one thing that a redirect changes, besides the time that is left.
    mutating func address(_ address: WebAddress) {
        set(CURLOPT_URL, address.text)
        set(CURLOPT_PROTOCOLS_STR, address.scheme.rawValue)
    }

    mutating func deadline(_ deadline: Duration) {
        set(CURLOPT_TIMEOUT_MS, Self.milliseconds(deadline))
    }

    /// Where it may lead, and to whom.
    mutating func safety(_ request: ExchangeRequest) {
        // The library would follow from https back to http where it was http at first.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_UNRESTRICTED_AUTH, 0)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        let settings = request.settings
        if let authorities = settings.authorities {
            set(CURLOPT_CAINFO, authorities)
            // Only those: the system's would otherwise be trusted beside them.
            set(CURLOPT_CAPATH, nil)
        }
        if let certificate = settings.certificate { set(CURLOPT_SSLCERT, certificate) }
        if let key = settings.key { set(CURLOPT_SSLKEY, key) }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let proxy = settings.proxy { set(CURLOPT_PROXY, proxy.text) }
        if let hosts = settings.withoutProxy { set(CURLOPT_NOPROXY, hosts) }
    }

    /// How long it may take.
    mutating func patience(_ request: ExchangeRequest) {
        let settings = request.settings
        // Else a name that is looked up would end the process by a signal.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTimeout))
        set(CURLOPT_LOW_SPEED_LIMIT, settings.leastSpeed)
        // Silence is noticed there, a drip here (`RateWatch`).
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
