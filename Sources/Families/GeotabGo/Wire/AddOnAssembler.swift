/// Assembles frames from the pieces that the other side writes.
///
/// The first frame begins with a write; others may follow it in the same write. Bytes after a frame
/// that do not begin another frame make that frame damaged. At most one unfinished frame is held,
/// so memory is bounded by the longest frame.
package struct AddOnAssembler: Equatable, Sendable {
    package enum Event: Equatable, Sendable {
        case frame(AddOnFrame)
        /// Bytes that are not a frame; they are dropped.
        case damaged(AddOnFrameError)
    }

    private static let handshakeRequest = AddOnFrame.handshakeRequest.bytes

    private let sums: AddOnSums
    private var held: [UInt8] = []

    package init(sums: AddOnSums = .trusting) { self.sums = sums }

    /// Whether a frame has begun and is not complete.
    package var isMidFrame: Bool { !held.isEmpty }

    package mutating func take(_ piece: [UInt8]) -> [Event] {
        guard !piece.isEmpty else { return [.damaged(.empty)] }
        let before = held.count
        held += piece
        // A vehicle that begins the handshake again in the middle of a frame does not send the rest
        // of the frame.
        if before > 0, piece == Self.handshakeRequest {
            let whole = try? AddOnFrame(held, sums: sums)
            held = []
            return whole.map { [.frame($0)] }
                ?? [.damaged(.truncated(got: before, of: nil)), .frame(.handshakeRequest)]
        }
        var events: [Event] = []
        do throws(AddOnFrameError) {
            while let header = try AddOnHeader(held), held.count >= header.total {
                let rest = Array(held[header.total...])
                guard rest.isEmpty || Self.beginsFrame(rest) else {
                    throw .excess(got: held.count, of: header.total)
                }
                events.append(.frame(try AddOnFrame(Array(held[..<header.total]), sums: sums)))
                held = rest
            }
        } catch {
            held = []
            events.append(.damaged(error))
        }
        return events
    }

    private static func beginsFrame(_ bytes: [UInt8]) -> Bool {
        do throws(AddOnFrameError) {
            _ = try AddOnHeader(bytes)
            return true
        } catch { return false }
    }

    /// Drops the unfinished frame, because its rest did not arrive in time.
    package mutating func abandon() -> Event? {
        guard isMidFrame else { return nil }
        defer { held = [] }
        let total = (try? AddOnHeader(held))?.total
        return .damaged(.truncated(got: held.count, of: total))
    }
}
