import Base
import Families
import Simulation

/// Gives any bytes to both ends of SMP: to a client in the middle of an upload, and to a device.
func fuzzSMP(_ bytes: [UInt8]) {
    if let frame = SMPFrame(bytes) {
        precondition(frame.bytes.count == bytes.count)
        if let reply = try? SMPReply(frame) {
            _ = try? SMPParameters(reply.body)
            _ = try? SMPBootloaderInfo(reply.body)
            _ = try? SMPSlotInfo(reply.body)
            _ = try? SMPUploadReply(reply.body)
            _ = try? SMPStatistics(reply.body)
            _ = try? SMPSetting(reply.body)
            read(reply.body)
            if let list = try? SMPImageList(reply.body) { decide(list) }
        }
    }
    upload(bytes)
    serve(bytes)
}

/// Reads a file whose answers are all this one, and writes a file to a device with this answer.
private func read(_ body: CBORValue) {
    var reading = SMPFileReading("a", limit: 1_000)
    if let piece = try? SMPFileContent(body) {
        var count = 0
        while case .ask = reading.answered(piece) {
            count += 1
            precondition(count < 1_000, "reading does not end")
        }
    }
    var writing = SMPFileWriting("a", [UInt8](repeating: 7, count: 300), frameLength: 100)
    guard let taken = try? SMPFileTaken(body), case .ask = writing.begin() else { return }
    var count = 0
    while case .ask = writing.answered(taken) {
        count += 1
        precondition(count < 1_000, "writing does not end")
    }
}

/// There must be a next step for any list of a module.
private func decide(_ list: SMPImageList) {
    let hash = list.images.last?.hash ?? [1]
    let candidate = SMPGoal.Candidate(version: FirmwareVersion(1, 0), hash: hash, size: 100)
    guard let goal = SMPGoal(parts: [.init(image: 0, candidates: [candidate])]) else { return }
    _ = SMPStep.next(goal, SMPFindings(list: list))
    _ = SMPStep.next(goal, SMPFindings(list: list), bringing: 0)
}

/// Runs an upload with these bytes as the answers, one piece each.
private func upload(_ bytes: [UInt8]) {
    guard let settings = SMPSettings(frameLength: 128, window: 3) else { return }
    let file = [UInt8](repeating: 7, count: 1_000)
    var machine = SMPUpload(file: file, sha: nil, settings: settings, sequence: 0)
    var reassembly = SMPReassembly(limit: 512)
    var now = Moment(nanoseconds: 0)
    var action = machine.begin(at: now)
    var rest = bytes[...]
    for _ in 0..<10_000 {
        now = now.advanced(by: .milliseconds(10))
        switch action {
        case .ended: return
        case .send: action = machine.sent(at: now)
        case .pause(let moment):
            now = max(now, moment)
            action = machine.pauseOver(at: now)
        case .wait:
            guard let head = rest.popFirst() else {
                now = max(now, machine.deadline ?? now)
                action = machine.timeout(at: now)
                continue
            }
            let piece = Array(rest.prefix(Int(head & 0x3F)))
            rest = rest.dropFirst(piece.count)
            if let frame = reassembly.take(piece) { action = machine.received(frame, at: now) }
        }
    }
    fatalError("the upload does not end: \(machine.state)")
}

/// Runs a device with these bytes as messages, each of which begins with its length.
private func serve(_ bytes: [UInt8]) {
    let old = SMPServerFacts.Content(
        version: FirmwareVersion(1, 0),
        hash: [UInt8](repeating: 0xAA, count: 32)
    )
    var rules = SMPServerRules()
    rules.pageSize = 256
    var values = SMPServerValues()
    values.statistics = ["a": ["b": 1]]
    values.settings = ["a/b": [1]]
    values.saved = values.settings
    values.files = ["a": [1, 2, 3]]
    var server = SMPServer(
        rules: rules,
        facts: SMPServerFacts(
            images: [.init(active: old), .init(active: old)],
            values: values
        ),
        memory: VolatileMemory(capacity: 4_096)
    )
    var reassembly = SMPReassembly(limit: 512)
    var rest = bytes[...]
    while let head = rest.popFirst() {
        let piece = Array(rest.prefix(Int(head & 0x7F)))
        rest = rest.dropFirst(piece.count)
        guard let frame = reassembly.take(piece) else { continue }
        for action in server.message(frame) where action == .restart { server.restarted() }
    }
    server.restarted()
}
