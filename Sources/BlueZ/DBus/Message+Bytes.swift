import CDBus

extension Message {
    /// Reads a message from its bytes on the wire; nil when the bytes are not a message.
    package static func parse(_ bytes: [UInt8]) throws(ValueError) -> Message? {
        let pointer = bytes.withUnsafeBytes { buffer in
            dbus_message_demarshal(
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(clamping: buffer.count),
                nil
            )
        }
        guard let pointer else { return nil }
        let raw = RawMessage(owning: pointer)
        guard let kind = raw.kind else { return nil }
        return try raw.message(kind)
    }
}
