import DBus

/// Any bytes are a message with a readable body, or they are not; nothing traps.
@c(LLVMFuzzerTestOneInput)
func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let message = try? Message.parse(bytes) else { return 0 }
    for value in message.body {
        precondition(Signature(value.signature.text) != nil, "a value of an impossible type")
        _ = value.unwrapped.asProperties
    }
    return 0
}
