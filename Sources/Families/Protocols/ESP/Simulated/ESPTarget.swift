import Base

/// A simulated device's side of ESP's BLE OTA, with the behaviour of the existing servers.
package struct ESPTarget: Sendable {
    package enum Server: String, CaseIterable, Sendable {
        /// Checks sector and sequence but no checksum; takes only acknowledged writes.
        case nimble
        /// Checks everything, and takes writes without response.
        case raw
    }

    package enum Action: Equatable, Sendable {
        case acknowledge([UInt8])
        case answer([UInt8])
        /// The flash is erased for this many bytes before anything that follows.
        case erase(Int)
        /// The attribute protocol refuses the packet.
        case refuse
        /// The image is complete.
        case complete
    }

    package let server: Server
    package private(set) var image: [UInt8] = []
    package private(set) var isRunning = false
    private var length = 0
    private var sector = 0
    private var sequence = 0
    private var buffer: [UInt8] = []
    /// Whether an earlier image was not finished: further data is then written after it.
    private var isSpoilt = false

    package init(server: Server) { self.server = server }

    /// A restart clears everything; the end of a link does not.
    package mutating func restarted() { self = ESPTarget(server: server) }

    package mutating func commanded(_ bytes: [UInt8]) -> [Action] {
        let command: ESPCommand
        do throws(ESPFrameError) { command = try ESPCommand(bytes) } catch {
            return server == .raw ? [answer(0, false)] : []
        }
        switch command {
        case .start(let count):
            if isRunning, server == .raw { return [answer(1, false)] }
            isSpoilt = isSpoilt || !image.isEmpty
            (isRunning, length, sector) = (true, Int(count), 0)
            resetSector()
            return [.erase(length), answer(1, true)]
        case .stop:
            isSpoilt = isSpoilt || !image.isEmpty
            (isRunning, sector) = (false, 0)
            resetSector()
            return [answer(2, true)]
        case .acknowledge: return []
        }
    }

    private func answer(_ command: UInt16, _ isAccepted: Bool) -> Action {
        .answer(
            ESPCommand.acknowledge(command: command, isAccepted: isAccepted, window: 0).bytes
        )
    }

    private mutating func resetSector() { (sequence, buffer) = (0, []) }

    private func ack(_ number: UInt16, _ status: ESPSectorAck.Status) -> Action {
        // On success, these servers return different numbers as the wanted sector.
        let wanted = status == .accepted && server == .nimble ? 0 : UInt16(clamping: sector)
        return .acknowledge(ESPSectorAck(sector: number, status: status, wanted: wanted).bytes)
    }

    package mutating func packetWritten(_ bytes: [UInt8]) -> [Action] {
        guard isRunning, bytes.count >= 3 else { return [] }
        let number = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        guard Int(number) == sector else {
            if server == .nimble { resetSector() }
            return [ack(number, .sector)] + (server == .nimble ? [.refuse] : [])
        }
        let isLast = bytes[2] == ESPNumbers.lastSequence
        guard isLast || Int(bytes[2]) == sequence else {
            guard server == .nimble else { return [ack(number, .length)] }
            resetSector()
            return [.refuse]
        }
        let data = bytes[3...]
        let most = ESPNumbers.sectorLength + (isLast ? 2 : 0)
        guard buffer.count + data.count <= most else {
            resetSector()
            return server == .raw ? [ack(number, .length)] : [.refuse]
        }
        buffer += data
        sequence += 1
        return isLast ? sectorCame(number) : []
    }

    private mutating func sectorCame(_ number: UInt16) -> [Action] {
        let data = buffer.dropLast(2)
        let sent = buffer.suffix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        let isShort = data.count < ESPNumbers.sectorLength
        let isEnd = image.count + data.count >= length
        resetSector()
        if server == .raw {
            if isShort, !isEnd { return [ack(number, .length)] }
            guard CRC16.of(data, from: 0) == sent else { return [ack(number, .checksum)] }
        }
        image += data
        sector += 1
        guard image.count >= length else { return [ack(number, .accepted)] }
        let isWhole = image.count == length && !isSpoilt
        isRunning = false
        return [ack(number, .accepted)] + (isWhole ? [.complete] : [])
    }
}
