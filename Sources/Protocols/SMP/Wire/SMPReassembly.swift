/// Puts messages together from the pieces that a characteristic carries.
///
/// Nothing but the header's length tells where a message ends, so a lost piece spoils what follows:
/// `reset` after a silence.
package struct SMPReassembly: Equatable, Sendable {
    /// The longest message taken, header included.
    package let limit: Int
    private var collected: [UInt8] = []
    private var expected = 0
    /// Pieces that made no sense where they came.
    package private(set) var dropped = 0

    package init(limit: Int = SMPHeader.length + 0xFFFF) { self.limit = limit }

    /// Part of a message is there.
    package var isWaiting: Bool { !collected.isEmpty }

    package mutating func reset() {
        collected = []
        expected = 0
    }

    /// The message that this piece completes; nil when more must come or the piece is dropped.
    package mutating func take(_ piece: [UInt8]) -> SMPFrame? {
        if expected == 0 {
            // A header may itself come in pieces.
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
            // More than the header told: this begins a message of its own, or is nothing.
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
