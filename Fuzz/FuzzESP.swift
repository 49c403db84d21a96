import Base
import Families
import Images
import Radio

/// Any bytes as an image, as frames of both sides, and as events of an upload and of a device.
func fuzzESP(_ bytes: [UInt8]) {
    if let image = try? ESPImage(bytes) {
        precondition(image.length <= bytes.count, "an image ends inside of its file")
    }
    _ = try? InspectedImage(bytes)
    if let command = try? ESPCommand(bytes) {
        precondition((try? ESPCommand(command.bytes)) == command, "a command changes")
    }
    if let ack = try? ESPSectorAck(bytes) {
        precondition((try? ESPSectorAck(ack.bytes)) == ack, "an acknowledgement changes")
    }
    for server in ESPTarget.Server.allCases { play(bytes, ESPTarget(server: server)) }
}

private func play(_ bytes: [UInt8], _ first: ESPTarget) {
    var target = first
    var machine = ESPUpload(total: 9_000, wanted: bytes.first.map { Int($0 & 3) })
    var now = Moment(nanoseconds: 0)
    _ = machine.begin(at: now)
    var rest = bytes[...]
    while let first = rest.popFirst() {
        now = now.advanced(by: .milliseconds(50))
        let piece = Array(rest.prefix(Int(first & 0x1F)))
        rest = rest.dropFirst(piece.count)
        switch first >> 5 {
        case 0: _ = machine.sent(at: now)
        case 1: _ = machine.commanded(piece, at: now)
        case 2: _ = machine.acknowledged(piece, at: now)
        case 3: _ = machine.timeout(at: now)
        case 4: _ = machine.linkFailed(.lost, at: now)
        case 5: _ = target.commanded(piece)
        case 6: _ = target.packetWritten(piece)
        default: machine.stopRequested()
        }
        precondition(machine.acknowledged <= 9_000, "more is acknowledged than there is")
    }
}
