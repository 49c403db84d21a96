import Wire

/// What a client asks a device, as far as an update needs it.
package enum SMPRequest: Equatable, Sendable {
    case echo(String)
    /// Restart; `isForced` passes over a veto of the application.
    case reset(isForced: Bool)
    case parameters
    /// Without a query the bootloader's name.
    case bootloaderInfo(query: String?)
    case imageState
    /// Mark an image for the next start: for a test, or for good when it is confirmed at once.
    ///
    /// Without a hash it confirms the image that runs.
    case setState(hash: [UInt8]?, isConfirmed: Bool)
    case upload(SMPChunk)
    /// Without a slot the one that does not run.
    case erase(slot: Int?)
    case slotInfo

    package var group: UInt16 {
        switch self {
        case .echo, .reset, .parameters, .bootloaderInfo: SMPNumbers.Group.os
        case .imageState, .setState, .upload, .erase, .slotInfo: SMPNumbers.Group.image
        }
    }

    package var command: UInt8 {
        switch self {
        case .echo: SMPNumbers.OS.echo
        case .reset: SMPNumbers.OS.reset
        case .parameters: SMPNumbers.OS.parameters
        case .bootloaderInfo: SMPNumbers.OS.bootloaderInfo
        case .imageState, .setState: SMPNumbers.Image.state
        case .upload: SMPNumbers.Image.upload
        case .erase: SMPNumbers.Image.erase
        case .slotInfo: SMPNumbers.Image.slotInfo
        }
    }

    package var operation: SMPHeader.Operation {
        switch self {
        case .parameters, .bootloaderInfo, .imageState, .slotInfo: .read
        case .echo, .reset, .setState, .upload, .erase: .write
        }
    }

    /// Asked twice it does no more than asked once.
    package var isRepeatable: Bool {
        switch self {
        case .echo, .parameters, .bootloaderInfo, .imageState, .slotInfo, .upload, .erase: true
        case .setState: true
        case .reset: false
        }
    }

    package func header(version: UInt8, sequence: UInt8, payloadLength: Int) -> SMPHeader {
        SMPHeader(
            operation,
            version: version,
            group: group,
            command: command,
            sequence: sequence,
            payloadLength: payloadLength
        )
    }

    /// The whole message; what is asked here always fits one.
    package func bytes(version: UInt8 = 1, sequence: UInt8) -> [UInt8] {
        let length = payloadLength
        let header = header(version: version, sequence: sequence, payloadLength: length)
        var writer = CBORWriter(header.bytes, reserving: length)
        write(&writer)
        return writer.bytes
    }

    private var payloadLength: Int {
        if case .upload(let chunk) = self { return chunk.payloadLength }
        var writer = CBORWriter()
        write(&writer)
        return writer.bytes.count
    }

    private func write(_ writer: inout CBORWriter) {
        switch self {
        case .echo(let text): writer.item(.map(["d": .text(text)]))
        case .reset(let isForced): writer.item(.map(["force": isForced ? .unsigned(1) : nil]))
        case .parameters, .imageState, .slotInfo: writer.beginMap(0)
        case .bootloaderInfo(let query): writer.item(.map(["query": query.map { .text($0) }]))
        case .setState(let hash, let isConfirmed):
            writer.item(
                .map(["hash": hash.map { .bytes($0) }, "confirm": .bool(isConfirmed)])
            )
        case .upload(let chunk): chunk.write(&writer)
        case .erase(let slot): writer.item(.map(["slot": slot.map { .int($0) }]))
        }
    }
}
