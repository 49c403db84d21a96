import Base
import Synchronization

/// Takes a small document into memory.
final class DocumentTaker: ResponseTaker {
    private let limit: ByteCount
    private let bytes = Mutex<[UInt8]>([])

    init(limit: ByteCount) { self.limit = limit }

    var document: [UInt8] { bytes.withLock { $0 } }

    func begin(_ head: ResponseHead) -> DownloadError? {
        switch head.status {
        case 200:
            guard let length = head.length, length > limit.bytes else { return nil }
            return .tooLong(limit: limit)
        case 300...399: return .redirected
        default: return .status(head.status, retryAfter: nil)
        }
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
