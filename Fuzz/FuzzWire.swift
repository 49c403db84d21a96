import Base
import Families
import Simulation

/// Reads any bytes as every message of the update protocols, and then gives them to a bootloader.
func fuzzWire(_ bytes: [UInt8]) {
    if let request = try? DFURequest(bytes) { precondition(request.bytes == bytes) }
    if let response = try? DFUResponse(bytes) { _ = response.bytes }
    if let response = ButtonlessResponse(bytes) { precondition(response.bytes == bytes) }
    _ = try? ButtonlessOrder(bytes)
    if let record = ComoduleRecord(bytes) {
        precondition(record.bytes == bytes)
        _ = (VersionsRecord(record), PreflightRecord(record), PowerRecord(record))
        _ = (ComponentsRecord(record), MotionRecord(record))
    }
    if let packet = try? InitPacket(bytes) {
        let again = try? InitPacket(packet.serialized)
        precondition(again?.digest == packet.digest, "an init packet is read back as written")
    }
    drive(bytes)
}

/// Runs a session in pieces: each begins with its length and a flag for the control point.
private func drive(_ bytes: [UInt8]) {
    var target = SecureDFUTarget(
        memory: VolatileMemory(capacity: 16_384),
        sha256: SHA256.digest
    )
    target.notificationsSwitched(on: true)
    var rest = bytes[...]
    while let head = rest.popFirst() {
        let piece = Array(rest.prefix(Int(head & 0x7F)))
        rest = rest.dropFirst(piece.count)
        if head & 0x80 == 0 {
            _ = target.controlPointWritten(piece)
        } else {
            _ = target.packetWritten(piece)
        }
        precondition(target.facts.executed <= target.facts.received)
    }
}
