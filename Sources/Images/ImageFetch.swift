import Domain
import Glibc

/// One image on its way into the store, on one thread at a time: the store's, or libcurl's while it
/// receives a small one.
final class ImageFetch {
    let request: ImageRequest
    let part: Part
    let progress: @Sendable (FetchProgress) -> Void
    /// As far as it is known.
    var total: ByteCount?
    /// Whether what came last called itself a page for people.
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

    /// An answer came whose bytes belong at `start`.
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

    /// Writes bytes that the part has hashed already.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        try part.write(bytes)
        progress(.received(size, of: total))
    }

    /// Whether what is here is the image.
    var isRight: Bool { (request.size ?? size) == size && part.isWhole }

    /// Throws what is wrong with it, if anything is.
    func check() throws(ImageError) {
        if let expected = request.size, expected != size {
            throw .wrongSize(expected: expected, actual: size)
        }
        guard part.isWhole else {
            throw .wrongDigest(expected: request.digest, actual: part.actual)
        }
    }

    /// What is wrong with what the network gave.
    var error: OriginError {
        if isWebPage { return .download(.webPage) }
        do throws(ImageError) {
            try check()
            return .image(.wrongDigest(expected: request.digest, actual: part.actual))
        } catch { return .image(error) }
    }

    /// Lets go of the bytes; a disk that does not even do that loses the part when it is closed.
    func forget() { try? part.restart() }
}

extension ImageError {
    /// Whether it is about the store's disk and not about the origin.
    var isOfStore: Bool {
        switch self {
        case .full, .readOnly, .cannotWrite, .damaged: true
        case .missing, .isDirectory, .notAFile, .notPermitted, .cannotRead, .tooLarge, .tooLong,
            .wrongSize, .wrongDigest, .cancelled:
            false
        }
    }
}
