import Base
import Families

/// Reads any bytes as a message of an LR device, and then as messages while requests are open.
func fuzzLRDevice(_ bytes: [UInt8]) {
    if let message = try? LRMessage(bytes) {
        precondition(message.bytes.count == bytes.count, "a message is as long as it says")
        _ = LRPayload.names(in: message.payload)
    }
    converse(bytes)
}

/// Uses pieces of the input as the device's messages; each request ends at most once.
private func converse(_ bytes: [UInt8]) {
    var requests = LRRequests()
    var open: Set<LRRequests.Ticket> = []
    var rest = bytes[...]
    var now = Moment(nanoseconds: 0)
    while let head = rest.popFirst() {
        if let ticket = try? requests.begin(LRCommand(rawValue: UInt16(head)), at: now) {
            open.insert(ticket)
        }
        let piece = Array(rest.prefix(Int(head & 0x1F)))
        rest = rest.dropFirst(piece.count)
        switch requests.received(piece) {
        case .completed(let ticket, _), .failed(let ticket, _):
            precondition(open.remove(ticket) != nil, "a request is answered once")
        case .notified, .ignored: break
        }
        now = now.advanced(by: .seconds(Int(head >> 5)))
        for ticket in requests.timeout(at: now) {
            precondition(open.remove(ticket) != nil, "a request ends once")
        }
    }
}
