import Base
import Images

/// Any lines are a header; a start offset that is accepted is always the requested one.
func fuzzHTTP(_ bytes: [UInt8]) {
    var head = ResponseHead()
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
        head.take(Array(line))
        for from in [0, 100] {
            for size in [nil, ByteCount(bytes: 200)] {
                let limit = ByteCount(count: 1 << 20)
                let expectation = Expectation(from: from, size: size, limit: limit)
                if case .success(let start) = expectation.start(of: head) {
                    precondition(start == 0 || start == from)
                }
            }
        }
        _ = head.strongValidator
        _ = head.retryAfter?.duration(from: WallTime(milliseconds: 0))
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = WallTime(httpDate: text)
    if let address = WebAddress(text, allowsHTTP: true) {
        precondition(!"\(address)".contains("@") || address.host.contains("@") == false)
        _ = address.appending(bytes)
    }
}
