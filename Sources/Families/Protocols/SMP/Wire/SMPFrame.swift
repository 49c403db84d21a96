/// One SMP message: a header and the CBOR map that follows it.
package struct SMPFrame: Equatable, Sendable {
    package let header: SMPHeader
    package let bytes: [UInt8]

    /// Nil when the payload is longer than a header can state.
    package init?(
        _ operation: SMPHeader.Operation,
        version: UInt8,
        group: UInt16,
        command: UInt8,
        sequence: UInt8,
        payload: [UInt8]
    ) {
        guard payload.count <= 0xFFFF else { return nil }
        header = SMPHeader(
            operation,
            version: version,
            group: group,
            command: command,
            sequence: sequence,
            payloadLength: payload.count
        )
        bytes = header.bytes + payload
    }

    /// Reads exactly one message; nil when the header is invalid or states another length.
    package init?(_ bytes: [UInt8]) {
        guard let header = SMPHeader(bytes),
            bytes.count == SMPHeader.length + header.payloadLength
        else { return nil }
        self.header = header
        self.bytes = bytes
    }

    package var payload: [UInt8] { Array(bytes[SMPHeader.length...]) }
}
