package import Base
package import Simulation

extension DepotFile {
    /// The key that images must be signed with; nil for any.
    package static func publicKey(
        _ reader: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> [UInt8]? {
        guard let text = reader.text("public-key", .optional) else { return nil }
        guard let bytes = Hex.bytes(text), P256Key(encoded: bytes) != nil else {
            diagnostics.error(
                reader.place(of: "public-key"),
                "a public key is one for ECDSA P-256, DER in hex",
                hint: "openssl pkey -pubin -in key.pem -outform DER | xxd -p"
            )
            return nil
        }
        return bytes
    }
}
