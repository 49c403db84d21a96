package import Domain

/// What an answer for an image, or for the rest of one, has to look like.
package struct Expectation: Sendable, Equatable {
    /// The first byte asked for; 0 when no range was.
    package let from: Int
    /// Nil when nobody told the size.
    package let size: ByteCount?
    /// No byte beyond it is taken.
    package let limit: ByteCount

    package init(from: Int, size: ByteCount?, limit: ByteCount) {
        self.from = from
        self.size = size
        self.limit = size.map { min($0, limit) } ?? limit
    }

    /// Where the bytes that follow `head` belong, or why none of them is taken.
    ///
    /// A server may answer a wish for the rest with the whole; the rest of something else, or
    /// another rest, is refused.
    package func start(of head: ResponseHead) -> Result<Int, DownloadError> {
        if let fault = head.fault { return .failure(.badAnswer(fault)) }
        switch head.status {
        case 200:
            return check(total: head.length, head).map { .failure($0) } ?? .success(0)
        case 206:
            guard from > 0 else { return .failure(.badAnswer("a part, but all was asked for")) }
            guard let span = head.span else {
                return .failure(.badAnswer("a part, without a word on which"))
            }
            guard span.first == from else {
                return .failure(
                    .badAnswer("bytes from \(span.first) on, but from \(from) was asked for")
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
    /// Whether it is a page for people: a login, an error told with the wrong status.
    var isWebPage: Bool {
        contentType.map { $0.lowercased().hasPrefix("text/html") } ?? false
    }
}
