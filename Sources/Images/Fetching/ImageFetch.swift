import Base
import Glibc

/// One image that is being fetched into the store, used by one thread at a time: the store's, or
/// libcurl's while it receives a small one.
final class ImageFetch {
    let request: ImageRequest
    let part: Part
    let progress: @Sendable (FetchProgress) -> Void
    /// The size, when it is known.
    var total: ByteCount?
    /// Whether the latest answer claims to be a page for people.
    var isWebPage = false

    init(
        _ request: ImageRequest,
        _ part: Part,
        _ progress: @escaping @Sendable (FetchProgress) -> Void
    ) {
        self.request = request
        self.part = part
        self.progress = progress
        total = request.size
    }

    var expectation: Expectation { expectation(from: 0) }

    func expectation(from: Int) -> Expectation {
        Expectation(from: from, size: request.size, limit: request.limit)
    }

    var size: ByteCount { ByteCount(count: UInt(part.count)) }

    /// An answer began whose bytes belong at `start`.
    func begin(
        _ head: ResponseHead,
        at start: Int,
        from address: WebAddress,
        _ settings: FetchSettings
    ) throws(ImageError) {
        if start == 0, part.count > 0 { try part.restart() }
        isWebPage = head.isWebPage
        let rest = head.length.flatMap { ByteCount(bytes: start.addingReportingOverflow($0).0) }
        total = request.size ?? rest
        progress(.started(.web(address), from: ByteCount(count: UInt(start)), total: total))
        guard let total, total >= settings.notedSize, let note = PartNote(address, head) else {
            return
        }
        try part.keep(note)
    }

    func take(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let limit = expectation.limit
        guard bytes.count <= limit.bytes - part.count else {
            throw request.size.map { .tooLong(expected: $0) } ?? .tooLarge(limit: limit)
        }
        try part.take(bytes)
        progress(.received(size, of: total))
    }

    /// Writes bytes that the part has already hashed.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        try part.write(bytes)
        progress(.received(size, of: total))
    }

    /// Whether the bytes that are here are the image.
    var isRight: Bool { (request.size ?? size) == size && part.isWhole }

    /// Throws the fault of the bytes that are here, if they have one.
    func check() throws(ImageError) {
        if let expected = request.size, expected != size {
            throw .wrongSize(expected: expected, actual: size)
        }
        guard part.isWhole else {
            throw .wrongDigest(expected: request.digest, actual: part.actual)
        }
    }

    /// The fault of the bytes that the network delivered.
    var error: OriginError {
        if isWebPage { return .download(.webPage) }
        do throws(ImageError) {
            try check()
            return .image(.wrongDigest(expected: request.digest, actual: part.actual))
        } catch { return .image(error) }
    }

    /// Drops the bytes; when the disk fails even at that, the part is removed when it is closed.
    func forget() { try? part.restart() }
}

extension ImageError {
    /// Whether the fault is the store's disk and not the origin.
    var isOfStore: Bool {
        switch self {
        case .full, .readOnly, .cannotWrite, .damaged: true
        case .missing, .isDirectory, .notAFile, .notPermitted, .cannotRead, .tooLarge, .tooLong,
            .wrongSize, .wrongDigest, .cancelled:
            false
        }
    }
}
