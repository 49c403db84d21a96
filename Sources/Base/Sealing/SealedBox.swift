import COpenSSL

/// AES-256-GCM, encoded as nonce (12 bytes), ciphertext and tag (16 bytes).
package struct SealingKey: Equatable, Sendable {
    package static let length = 32
    package static let nonceLength = 12
    package static let tagLength = 16
    /// The number of bytes that sealing adds to a message.
    package static let overhead = nonceLength + tagLength

    private let key: Secret

    /// Nil unless there are 32 bytes.
    package init?(_ key: Secret) {
        guard key.withBytes({ $0.count == Self.length }) else { return nil }
        self.key = key
    }

    /// Nil when the nonce is not 12 bytes long.
    ///
    /// A nonce must never be used twice with the same key.
    package func seal(_ message: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard nonce.count == Self.nonceLength, let context = unsafe EVP_CIPHER_CTX_new() else {
            return nil
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: message.count)
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        var (count, rest): (Int32, Int32) = (0, 0)
        var end = [UInt8](repeating: 0, count: Self.tagLength)
        let done = key.withBytes { key in
            unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                && EVP_EncryptUpdate(context, &sealed, &count, message, Int32(message.count)) == 1
                && EVP_EncryptFinal_ex(context, &end, &rest) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context,
                    EVP_CTRL_AEAD_GET_TAG,
                    Int32(Self.tagLength),
                    &tag
                ) == 1
        }
        return done ? nonce + sealed + tag : nil
    }

    /// Nil when the box was sealed with another key, or was changed.
    package func open(_ box: [UInt8]) -> [UInt8]? {
        guard box.count >= Self.overhead, let context = unsafe EVP_CIPHER_CTX_new() else {
            return nil
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let nonce = Array(box.prefix(Self.nonceLength))
        let sealed = Array(box.dropFirst(Self.nonceLength).dropLast(Self.tagLength))
        var tag = Array(box.suffix(Self.tagLength))
        var message = [UInt8](repeating: 0, count: sealed.count)
        var (count, rest): (Int32, Int32) = (0, 0)
        var end = [UInt8](repeating: 0, count: Self.tagLength)
        let isGenuine = key.withBytes { key in
            unsafe EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                && EVP_DecryptUpdate(context, &message, &count, sealed, Int32(sealed.count)) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context,
                    EVP_CTRL_AEAD_SET_TAG,
                    Int32(Self.tagLength),
                    &tag
                ) == 1
                && EVP_DecryptFinal_ex(context, &end, &rest) == 1
        }
        return isGenuine ? message : nil
    }
}
