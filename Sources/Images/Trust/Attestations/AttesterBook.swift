package import Base

/// The keys of attestations that a depot knows.
///
/// A key is known when a person added it (`trust add`), or when a manifest of this machine named it
/// and one of its attestations was verified.
package struct AttesterBook<Files: TrustFiles>: Sendable {
    private static var mark: String { "attester-" }

    private let store: TrustStore<Files>

    package init(_ store: TrustStore<Files>) { self.store = store }

    private static func name(of key: VerifyingKey) -> String { "\(mark)\(key.fingerprint)" }

    package func isKnown(_ key: VerifyingKey) throws(TrustError) -> Bool {
        try store.read(Self.name(of: key), limit: 16_384) == key.encoded
    }

    package func keep(_ key: VerifyingKey) throws(TrustError) {
        try store.replace(Self.name(of: key), with: key.encoded)
    }

    /// The fingerprints of the known keys, in ascending order.
    package func fingerprints() throws(TrustError) -> [SHA256Digest] {
        do throws(StorageError) {
            return try store.files.names().compactMap { name in
                name.hasPrefix(Self.mark) ? SHA256Digest(name.dropFirst(Self.mark.count)) : nil
            }
        } catch { throw .storage(error) }
    }
}

extension VerifyingKey {
    /// Identifies the key: the SHA-256 of its DER form.
    package var fingerprint: SHA256Digest { SHA256.digest(of: encoded) }
}
