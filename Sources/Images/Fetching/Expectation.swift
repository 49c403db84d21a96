package import Base

/// The requirements for an answer with an image or with the rest of one.
package struct Expectation: Sendable, Equatable {
    /// The first requested byte; 0 without a range.
    let from: Int
    /// Nil when the size is unknown.
    let size: ByteCount?
    /// No byte after it is accepted.
    let limit: ByteCount

    package init(from: Int, size: ByteCount?, limit: ByteCount) {
        self.from = from
        self.size = size
        self.limit = size.map { min($0, limit) } ?? limit
    }

    /// The offset in the file of the bytes that follow `head`, or why they are not accepted.
    ///
    /// A server may answer a request for the rest with the whole file. The rest of another file, or
    /// another range, is refused.
    package func start(of head: ResponseHead) -> Result<Int, DownloadError> {
        if let fault = head.fault { return .failure(.badAnswer(fault)) }
        switch head.status {
        case 200:
            return check(total: head.length, head).map { .failure($0) } ?? .success(0)
        case 206:
            guard from > 0 else { return .failure(.badAnswer("a part, not the whole file")) }
            guard let span = head.span else {
                return .failure(.badAnswer("a part, without its range"))
            }
            guard span.first == from else {
                return .failure(
                    .badAnswer("bytes from \(span.first) on instead of \(from) on")
                )
            }
            guard head.length.map({ $0 == span.last - span.first + 1 }) ?? true else {
                return .failure(.badAnswer("a range and a length that differ"))
            }
            if let error = check(total: span.total, head) { return .failure(error) }
            return .success(from)
        default:
            return .failure(.status(head.status, retryAfter: nil))
        }
    }

    private func check(total: Int?, _ head: ResponseHead) -> DownloadError? {
        guard let total, let announced = ByteCount(bytes: total) else { return nil }
        if let size, announced != size {
            return head.isWebPage ? .webPage : .wrongLength(expected: size, announced: announced)
        }
        return announced > limit ? .tooLong(limit: limit) : nil
    }
}

extension ResponseHead {
    /// Whether it is a page for people: a login, or an error with the wrong status.
    var isWebPage: Bool {
        contentType.map { $0.lowercased().hasPrefix("text/html") } ?? false
    }
}
