package import Base
import Glibc

/// An image in the store that matched its digest when it was returned.
package struct StoredImage: Sendable, Equatable {
    /// The name of the image in the manifest.
    package let name: String
    package let digest: SHA256Digest
    package let size: ByteCount
    package let path: String

    /// The image's bytes, verified again: exactly these bytes have the digest.
    package func bytes() throws(ImageError) -> [UInt8] {
        let file = try ImageFile(reading: path, following: false)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.bytes)
        try file.read { piece throws(ImageError) in
            guard bytes.count + piece.count <= size.bytes else { throw .damaged(path) }
            piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        }
        guard bytes.count == size.bytes, SHA256.digest(of: bytes) == digest else {
            throw .damaged(path)
        }
        return bytes
    }

    /// The store's file for a digest, verified; nil when it does not exist or has other content.
    static func verified(
        _ request: ImageRequest,
        at path: String
    ) throws(ImageError) -> StoredImage? {
        guard access(path, F_OK) == 0 else { return nil }
        var count = 0
        var hash = SHA256()
        do throws(ImageError) {
            let file = try ImageFile(reading: path, following: false)
            try file.read { piece throws(ImageError) in
                count += piece.count
                hash.update(piece)
            }
        } catch {
            guard case .notPermitted = error else { return nil }
            throw error
        }
        guard hash.finish() == request.digest, let size = ByteCount(bytes: count) else {
            return nil
        }
        if let expected = request.size, expected != size {
            throw .wrongSize(expected: expected, actual: size)
        }
        guard size <= request.limit else { throw .tooLarge(limit: request.limit) }
        return StoredImage(name: request.name, digest: request.digest, size: size, path: path)
    }
}

extension StoreFolder {
    /// The image, if it is here and right: every byte of it is read.
    ///
    /// Throws when it is here but not as the request demands.
    package func image(_ request: ImageRequest) throws(ImageError) -> StoredImage? {
        try StoredImage.verified(request, at: path(of: request.digest))
    }
}
