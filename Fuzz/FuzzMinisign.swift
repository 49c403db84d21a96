import Base
import Images

/// Any bytes are a signature or a key of minisign, or they are refused; no signature is valid.
func fuzzMinisign(_ bytes: [UInt8]) {
    if let decoded = Base64.bytes(bytes) {
        precondition(Array(Base64.text(decoded).utf8) == bytes, "base64 has one spelling")
    }
    if let signature = try? MinisignSignature(bytes) {
        _ = try? ReleaseStatement(comment: signature.comment)
        if let key = try? MinisignKey(knownKey) {
            precondition((try? signature.verify(bytes, by: key)) == nil)
        }
    }
    _ = try? MinisignKey(bytes)
    _ = try? ReleaseStatement(comment: String(decoding: bytes, as: UTF8.self))
}

private let knownKey = Array("RWQ8++NDGjQUksF7GoRBk+ibdCZk+U+i0ORdd7CCtUuGriMZqcmhVXQ0".utf8)
