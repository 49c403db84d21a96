import Digests
package import Domain
import Glibc

/// Where an image's bytes come from.
///
/// A source is not trusted: the store hashes what it delivers and keeps nothing that differs.
package protocol ImageSource: Sendable {
    /// Hands over the bytes in order, in pieces of any size.
    ///
    /// Runs on the store's own thread and may block. What the sink throws is passed on at once.
    func deliver(to sink: inout ImageSink) throws(ImageError)
}

/// An image in a file on this machine.
package struct LocalFile: ImageSource {
    package let path: String

    package init(path: String) { self.path = path }

    package func deliver(to sink: inout ImageSink) throws(ImageError) {
        let file = try ImageFile(reading: path)
        try file.read { bytes throws(ImageError) in try sink.take(bytes) }
    }
}

/// Takes an image's bytes: counts, hashes and writes them, and stops at the limit.
package struct ImageSink: ~Copyable {
    /// The first byte beyond it ends the delivery.
    package let limit: ByteCount

    private let descriptor: CInt
    private let path: String
    private let expectedSize: ByteCount?
    private var hash = SHA256()
    private var count = 0

    init(descriptor: CInt, path: String, expectedSize: ByteCount?, limit: ByteCount) {
        self.descriptor = descriptor
        self.path = path
        self.expectedSize = expectedSize
        self.limit = limit
    }

    /// Throws at the first byte too many, when the disk fails, and when the task was cancelled.
    package mutating func take(_ bytes: Span<UInt8>) throws(ImageError) {
        guard !Task.isCancelled else { throw .cancelled }
        count += bytes.count
        if let expectedSize, count > expectedSize.bytes { throw .tooLong(expected: expectedSize) }
        guard count <= limit.bytes else { throw .tooLarge(limit: limit) }
        hash.update(bytes)
        var written = 0
        while written < bytes.count {
            let result = bytes.extracting(droppingFirst: written).withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw .writing(path, errno) }
            written += result
        }
    }

    /// The size, once it is clear that these are the bytes that were asked for.
    consuming func finish(expecting digest: SHA256Digest) throws(ImageError) -> ByteCount {
        guard let size = ByteCount(bytes: count) else { throw .tooLarge(limit: limit) }
        if let expectedSize, expectedSize != size {
            throw .wrongSize(expected: expectedSize, actual: size)
        }
        let actual = hash.finish()
        guard actual == digest else { throw .wrongDigest(expected: digest, actual: actual) }
        return size
    }
}
