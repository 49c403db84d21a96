import Base
import Families
import Images
import Radio

/// Uses the bytes as a legacy package, as an init packet, as notifications of a bootloader, and as
/// writes to it.
///
/// Nothing may trap, and a parsed packet is written as it was.
func fuzzLegacy(_ bytes: [UInt8]) {
    if let packet = try? LegacyInitPacket(bytes) {
        precondition((try? LegacyInitPacket(packet.bytes)) == packet, "an init packet changes")
    }
    if let answer = try? LegacyAnswer(bytes) {
        precondition((try? LegacyAnswer(answer.bytes)) == answer, "an answer changes")
    }
    if let request = LegacyRequest(bytes) {
        precondition(LegacyRequest(request.bytes) == request, "a request changes")
    }
    _ = try? LegacyPackage(zip: bytes)
    play(bytes)
}

/// Uses the bytes as events of an upload, and as writes to a bootloader.
private func play(_ bytes: [UInt8]) {
    var machine = LegacyUpload(.application, initLength: 14, total: 400)
    var target = LegacyDFUTarget()
    target.notificationsSwitched(on: true)
    var now = Moment(nanoseconds: 0)
    _ = machine.begin(at: now)
    var rest = bytes[...]
    while let first = rest.popFirst() {
        now = now.advanced(by: .milliseconds(50))
        let piece = Array(rest.prefix(Int(first & 0x1F)))
        rest = rest.dropFirst(piece.count)
        switch first >> 5 {
        case 0: _ = machine.written(at: now)
        case 1: _ = machine.packetsSent(at: now)
        case 2: _ = machine.notified(piece, at: now)
        case 3: _ = machine.timeout(at: now)
        case 4: _ = machine.linkFailed(.lost, at: now)
        case 5: _ = target.controlPointWritten(piece)
        case 6: _ = target.packetWritten(piece)
        default: _ = machine.stopRequested(at: now)
        }
        precondition(machine.acknowledged <= 400, "more is acknowledged than there is")
        precondition(
            target.received <= max(target.expected, 0),
            "more is received than was announced"
        )
    }
}
