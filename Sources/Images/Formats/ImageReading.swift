import Base

/// A source of an image's bytes.
///
/// A source is not trusted: the store hashes the bytes and keeps none that differ.
package protocol ImageReading: Sendable {
    /// Passes the bytes to `sink` in order, in pieces of any size.
    ///
    /// Runs on the store's own thread and may block. An error of the sink is passed on immediately.
    func deliver(to sink: inout ImageSink) throws(ImageError)
}

/// An image in a file on this machine.
package struct LocalFile: ImageReading {
    let path: String

    package init(path: String) { self.path = path }

    package func deliver(to sink: inout ImageSink) throws(ImageError) {
        let file = try ImageFile(reading: path)
        try file.read { bytes throws(ImageError) in try sink.take(bytes) }
    }
}

/// Takes an image's bytes: counts, hashes and writes them, and stops at the limit.
package struct ImageSink: ~Copyable {
    /// The first byte after the limit ends the delivery.
    let limit: ByteCount

    private let part: Part
    private let expectedSize: ByteCount?

    init(part: Part, expectedSize: ByteCount?, limit: ByteCount) {
        self.part = part
        self.expectedSize = expectedSize
        self.limit = limit
    }

    /// Throws at the first byte that is too many, when the disk fails, and when the task was
    /// cancelled.
    package mutating func take(_ bytes: Span<UInt8>) throws(ImageError) {
        guard !Task.isCancelled else { throw .cancelled }
        let count = part.count + bytes.count
        if let expectedSize, count > expectedSize.bytes { throw .tooLong(expected: expectedSize) }
        guard count <= limit.bytes else { throw .tooLarge(limit: limit) }
        var result: Result<Void, ImageError> = .success(())
        bytes.withUnsafeBytes { bytes in
            do throws(ImageError) { try part.take(bytes) } catch { result = .failure(error) }
        }
        try result.get()
    }

    /// Returns the size, after checking that these are the requested bytes.
    consuming func finish(expecting digest: SHA256Digest) throws(ImageError) -> ByteCount {
        let size = ByteCount(count: UInt(part.count))
        if let expectedSize, expectedSize != size {
            throw .wrongSize(expected: expectedSize, actual: size)
        }
        let actual = part.actual
        guard actual == digest else { throw .wrongDigest(expected: digest, actual: actual) }
        return size
    }
}
