import Base
import CCurl

/// A failed transfer as libcurl reports it, and its meaning: the only table of libcurl's codes.
struct CurlFault {
    let code: CURLcode
    let words: String
    let request: ExchangeRequest
    /// The status in the proxy's answer to the request for a tunnel; 0 without an answer.
    let proxyStatus: Int
    let wasRedirected: Bool
    let elapsed: Duration
    let hasAnswered: Bool
    /// Whether a byte of the body arrived.
    let hasBegun: Bool

    var meaning: DownloadError {
        if proxyStatus >= 300 { return .proxy("it answers \(proxyStatus)") }
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL:
            if wasRedirected { return .weakerRedirect }
            return .badAnswer("it is not HTTP")
        case CURLE_URL_MALFORMAT:
            return wasRedirected
                ? .badAnswer("it redirects to an invalid address")
                : .configuration("the address is wrong")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .proxy(text)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            return .unreachable(text)
        case CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING:
            return .cut(text)
        case CURLE_OPERATION_TIMEDOUT:
            guard hasAnswered, elapsed < request.deadline else { return .tooSlow(text) }
            return .tooSlow(request.settings.rateRule)
        case CURLE_FILESIZE_EXCEEDED: return .badAnswer("it is too long")
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE:
            return .configuration("our certificate or key cannot be used: \(text)")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            return .tls(text)
        case CURLE_OUT_OF_MEMORY where hasAnswered && !hasBegun:
            // libcurl uses this code for a line that is too long for its buffer.
            return .badAnswer("a header line that is too long")
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN,
            CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION:
            return .noLibrary(text)
        default: return .badAnswer(text)
        }
    }

    /// The library's text, which may contain a server's text: made safe to print and limited in
    /// length.
    private var text: String {
        let words = words.isEmpty ? String(cString: curl_easy_words(code)) : words
        return String(words.unicodeScalars.prefix(200).map { Character($0) }).visible
    }
}
