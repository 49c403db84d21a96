import BlueZ

/// Any bytes are a message with a readable body, or not; nothing traps.
func fuzzDBus(_ bytes: [UInt8]) {
    guard let message = try? Message.parse(bytes) else { return }
    for value in message.body {
        precondition(Signature(value.signature.text) != nil, "a value of an impossible type")
        _ = value.unwrapped.asProperties
    }
}
