import Base

/// The requests to a device that updates and properties need.
package enum SMPRequest: Equatable, Sendable {
    case echo(String)
    /// Restart; with `isForced` the application cannot veto it.
    case reset(isForced: Bool)
    case parameters
    /// Without a query, the device answers with the bootloader's name.
    case bootloaderInfo(query: String?)
    case imageState
    /// Marks an image for the next start: for a trial, or permanently when it is confirmed in the
    /// same request.
    ///
    /// Without a hash it confirms the running image.
    case setState(hash: [UInt8]?, isConfirmed: Bool)
    case upload(SMPChunk)
    /// Without a slot, the slot that does not run is erased.
    case erase(slot: Int?)
    case slotInfo
    /// Reads all numbers of a group.
    case statistics(group: String)
    case readSetting(String)
    /// Valid until the next restart.
    case writeSetting(String, [UInt8])
    /// Written settings take effect, on devices where that is not immediate.
    case commitSettings
    /// Written settings are kept over a restart.
    case saveSettings
    /// Reads as much of a file as fits into one answer.
    case readFile(String, offset: Int)
    case writeFile(SMPFilePiece)

    package var group: UInt16 {
        switch self {
        case .echo, .reset, .parameters, .bootloaderInfo: SMPNumbers.Group.os
        case .imageState, .setState, .upload, .erase, .slotInfo: SMPNumbers.Group.image
        case .statistics: SMPNumbers.Group.statistics
        case .readSetting, .writeSetting, .commitSettings, .saveSettings:
            SMPNumbers.Group.settings
        case .readFile, .writeFile: SMPNumbers.Group.files
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
        case .statistics: SMPNumbers.Statistics.read
        case .readSetting, .writeSetting: SMPNumbers.Settings.value
        case .commitSettings: SMPNumbers.Settings.commit
        case .saveSettings: SMPNumbers.Settings.save
        case .readFile, .writeFile: SMPNumbers.Files.content
        }
    }

    package var operation: SMPHeader.Operation {
        switch self {
        case .parameters, .bootloaderInfo, .imageState, .slotInfo, .statistics, .readSetting,
            .readFile:
            .read
        case .echo, .reset, .setState, .upload, .erase, .writeSetting, .commitSettings,
            .saveSettings, .writeFile:
            .write
        }
    }

    /// Whether sending it twice has the same effect as sending it once.
    package var isRepeatable: Bool {
        switch self {
        case .echo, .parameters, .bootloaderInfo, .imageState, .slotInfo, .upload, .erase: true
        case .setState, .statistics, .readSetting, .writeSetting, .commitSettings, .saveSettings,
            .readFile:
            true
        // A piece of a file that has arrived is refused the second time.
        case .reset, .writeFile: false
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

    /// The complete message; these requests always fit into one message.
    package func bytes(version: UInt8 = 1, sequence: UInt8) -> [UInt8] {
        let header = header(version: version, sequence: sequence, payloadLength: payloadLength)
        var writer = CBORWriter(header.bytes)
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
        case .statistics(let group): writer.item(.map(["name": .text(group)]))
        case .readSetting(let key): writer.item(.map(["name": .text(key)]))
        case .writeSetting(let key, let value):
            writer.item(.map(["name": .text(key), "val": .bytes(value)]))
        case .commitSettings, .saveSettings: writer.beginMap(0)
        case .readFile(let name, let offset):
            writer.item(.map(["off": .int(offset), "name": .text(name)]))
        case .writeFile(let piece):
            writer.item(
                .map([
                    "off": .int(piece.offset), "data": .bytes(Array(piece.data)),
                    "name": .text(piece.name), "len": piece.length.map { .int($0) },
                ])
            )
        }
    }
}
