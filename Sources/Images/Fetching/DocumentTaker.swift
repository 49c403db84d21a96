import Base
import Synchronization

/// Takes a small document into memory.
final class DocumentTaker: ResponseTaker {
    private let limit: ByteCount
    /// The statuses of an answer that is taken.
    private let accepted: Set<Int>
    private let bytes = Mutex<[UInt8]>([])

    init(limit: ByteCount, accepting accepted: Set<Int> = [200]) {
        self.limit = limit
        self.accepted = accepted
    }

    var document: [UInt8] { bytes.withLock { $0 } }

    func begin(_ head: ResponseHead) -> DownloadError? {
        if accepted.contains(head.status) {
            guard let length = head.length, length > limit.bytes else { return nil }
            return .tooLong(limit: limit)
        }
        // "Not modified" leads nowhere else.
        let isRedirect = (300...399).contains(head.status) && head.status != 304
        return isRedirect ? .redirected : .status(head.status, retryAfter: nil)
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Taking {
        bytes.withLock { bytes in
            guard bytes.count <= limit.bytes, piece.count <= limit.bytes - bytes.count else {
                return .refused(.tooLong(limit: limit))
            }
            bytes.append(contentsOf: piece)
            return .taken
        }
    }

    func flush() {}

    func end() {}
}
