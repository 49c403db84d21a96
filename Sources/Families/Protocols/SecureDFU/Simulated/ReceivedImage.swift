package import Base
import Glibc
import Synchronization

/// The digest of an image that a simulated module has received.
///
/// Most modules of a depot get the same image. The last one is kept with its digest, and an image with
/// the same bytes is not hashed again.
package enum ReceivedImage {
    private static let last = Mutex<(bytes: [UInt8], digest: SHA256Digest)?>(nil)

    package static func digest(of bytes: [UInt8]) -> SHA256Digest {
        last.withLock { last in
            if let last, areSame(last.bytes, bytes) { return last.digest }
            let digest = SHA256.digest(of: bytes)
            last = (bytes, digest)
            return digest
        }
    }

    /// Uses the C library: the standard library compares byte by byte.
    private static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count, !left.isEmpty else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let one = left.baseAddress, let other = right.baseAddress else {
                    return false
                }
                return unsafe memcmp(one, other, left.count) == 0
            }
        }
    }
}
