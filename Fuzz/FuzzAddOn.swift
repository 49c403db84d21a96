import Base
import Families

/// Reads any bytes as every message of the car-share protocol, whole and in pieces.
func fuzzAddOn(_ bytes: [UInt8]) {
    for sums in [AddOnSums.strict, .trusting] {
        guard let frame = try? AddOnFrame(bytes, sums: sums) else { continue }
        // Only the checksum of a reply may be wrong.
        precondition(frame.bytes == bytes || sums == .trusting && frame.type == .reply)
    }
    if let challenge = try? CarShareChallenge(message: bytes) {
        precondition(challenge.message == bytes)
    }
    if let verdict = try? CarShareAcknowledgement(message: bytes) {
        precondition(verdict.message == bytes)
    }
    if let message = try? CarShareDeviceMessage(bytes) { precondition(message.bytes == bytes) }
    if let message = try? CarShareDeviceMessage(bytes, signatureLength: Int(bytes.first ?? 0)) {
        precondition(message.bytes == bytes)
    }
    if let report = try? CarShareReport(message: bytes) {
        for status in report.statuses { precondition(!status.description.isEmpty) }
        precondition(
            (try? CarShareReport(message: report.message))?.isSuccess == report.isSuccess
        )
    }
    _ = try? CarShareCommands.bits(of: bytes)
    pieces(bytes)
}

/// The same bytes as several writes, each of which begins with its length.
private func pieces(_ bytes: [UInt8]) {
    var assembler = AddOnAssembler()
    var rest = bytes[...]
    while let head = rest.popFirst() {
        let piece = Array(rest.prefix(Int(head)))
        rest = rest.dropFirst(piece.count)
        for event in assembler.take(piece) {
            if case .frame(let frame) = event { precondition(!frame.bytes.isEmpty) }
        }
    }
    _ = assembler.abandon()
    precondition(!assembler.isMidFrame)
}
