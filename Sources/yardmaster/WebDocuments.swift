import CCurl
import Trust

/// A repository below an address of the web or a folder of this machine.
struct WebDocuments: MetadataSource {
    private let base: String

    init(_ base: String) { self.base = base.hasSuffix("/") ? base : base + "/" }

    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        if base.hasPrefix("file:") {
            let folder = base.hasPrefix("file://") ? base.dropFirst(7) : base.dropFirst(5)
            do throws(TrustError) {
                return try TrustFolder.contents(of: folder + path, limit: limit)
            } catch {
                if case .storage(let failure) = error, failure.isMissing { throw .notThere }
                throw .unreachable(error.description)
            }
        }
        return try Transfer.get(base + path, limit: limit)
    }
}

/// One document by HTTP, on the calling thread.
private final class Transfer {
    private var bytes: [UInt8] = []
    private let limit: Int64

    private init(limit: Int64) { self.limit = limit }

    static func get(_ address: String, limit: Int64) throws(SourceError) -> [UInt8] {
        if let problem = curl_load() { throw .unreachable(String(cString: problem)) }
        guard let easy = curl_easy_begin(), let multi = curl_multi_begin() else {
            throw .unreachable("libcurl gives no handle")
        }
        defer {
            curl_multi_remove(multi, easy)
            curl_easy_end(easy)
            curl_multi_end(multi)
        }
        let transfer = Transfer(limit: limit)
        _ = curl_easy_set_text(easy, CURLOPT_URL, address)
        _ = curl_easy_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        for (option, value) in [
            (CURLOPT_PATH_AS_IS, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_CONNECTTIMEOUT_MS, 10_000), (CURLOPT_TIMEOUT_MS, 60_000),
            (CURLOPT_LOW_SPEED_LIMIT, 500), (CURLOPT_LOW_SPEED_TIME, 15),
        ] { _ = curl_easy_set_long(easy, option, value) }
        _ = curl_easy_set_pointer(
            easy,
            CURLOPT_WRITEDATA,
            Unmanaged.passUnretained(transfer).toOpaque()
        )
        _ = curl_easy_set_taker(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
                ? size * count : 0
        }
        curl_multi_add(multi, easy)
        var running: CInt = 1
        while running > 0 {
            guard curl_multi_go(multi, &running) == CURLM_OK else {
                throw .unreachable("libcurl fails")
            }
            if running > 0 { curl_multi_wait_for(multi, 1_000) }
        }
        var code = CURLE_OK
        _ = curl_multi_ended(multi, &code)
        var status = 0
        _ = curl_easy_info_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return try withExtendedLifetime(transfer) { () throws(SourceError) in
            if Int64(transfer.bytes.count) > limit { throw .tooLong(limit: limit) }
            guard code == CURLE_OK else {
                throw .unreachable(String(cString: curl_easy_words(code)))
            }
            if status == 404 || status == 403 { throw .notThere }
            guard status == 200 else { throw .unreachable("the server answered \(status)") }
            return transfer.bytes
        }
    }

    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        bytes += piece
        return Int64(bytes.count) <= limit
    }
}
