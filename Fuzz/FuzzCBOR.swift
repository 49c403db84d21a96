import Base

/// Reads any bytes as CBOR; a parsed value can be written and read again, and is the same.
func fuzzCBOR(_ bytes: [UInt8]) {
    guard let value = try? CBORValue(cbor: bytes) else { return }
    let written = value.serialized
    guard let again = try? CBORValue(cbor: written) else { fatalError("it is not read back") }
    // The bytes are compared, because NaN is not equal to itself.
    precondition(again.serialized == written, "it is read back as something else")
    var open = CBORWriter()
    open.item(value, isOpen: true)
    guard let reopened = try? CBORValue(cbor: open.bytes) else {
        fatalError("nor with open lengths")
    }
    precondition(reopened.serialized == written, "open lengths mean the same")
}
