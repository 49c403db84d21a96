/// Assembles messages from the pieces that a characteristic carries.
///
/// Only the length in the header shows where a message ends, so a lost piece spoils the following
/// ones: call `reset` after a silence.
package struct SMPReassembly: Equatable, Sendable {
    /// The longest message that is accepted, including its header.
    package let limit: Int
    private var collected: [UInt8] = []
    private var expected = 0
    /// Number of pieces that were dropped because they did not fit.
    package private(set) var dropped = 0

    package init(limit: Int = SMPHeader.length + 0xFFFF) { self.limit = limit }

    /// Whether a part of a message has arrived.
    package var isWaiting: Bool { !collected.isEmpty }

    package mutating func reset() {
        collected = []
        expected = 0
    }

    /// The message that this piece completes; nil when it is not complete or the piece is dropped.
    package mutating func take(_ piece: [UInt8]) -> SMPFrame? {
        // Most messages arrive in one piece.
        if collected.isEmpty, piece.count <= limit, let frame = SMPFrame(piece) { return frame }
        if expected == 0 {
            // A header can itself arrive in pieces.
            let start = collected + piece
            guard start.count >= SMPHeader.length else {
                if SMPHeader.mayBegin(with: start) {
                    collected = start
                } else {
                    reset()
                    dropped += 1
                }
                return nil
            }
            guard let header = SMPHeader(start),
                SMPHeader.length + header.payloadLength <= limit
            else {
                let wasWaiting = isWaiting
                reset()
                dropped += 1
                return wasWaiting ? take(piece) : nil
            }
            expected = SMPHeader.length + header.payloadLength
        }
        guard collected.count + piece.count <= expected else {
            // More bytes than the header states: they are the beginning of another message, or
            // invalid.
            let wasWaiting = isWaiting
            reset()
            dropped += 1
            return wasWaiting ? take(piece) : nil
        }
        collected += piece
        guard collected.count == expected else { return nil }
        defer { reset() }
        return SMPFrame(collected)
    }
}
