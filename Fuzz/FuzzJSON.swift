import Base

/// Any bytes are read or refused; a value that was read can be written and read again, and is the
/// same.
func fuzzJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(json: bytes) else { return }
    let written = value.bytes
    guard let again = try? JSONValue(json: written), again.bytes == written else {
        fatalError("what was written does not read back the same")
    }
}
