import Base
import Families
import Moments
import Radio
import Simulation
import Testing

/// An upload connected to a simulated bootloader without a radio, with faults on demand.
struct Bench {
    /// The fate of one packet, request or notification.
    enum Fate { case passes, isLost, comesTwice, linkBreaksBefore, linkBreaksAfter }

    /// Packets, requests and notifications are counted from 0 over all links.
    var packetFate: (Int) -> Fate = { _ in .passes }
    var requestFate: (Int) -> Fate = { _ in .passes }
    var notificationFate: (Int) -> Fate = { _ in .passes }
    /// Whether the receipts among the notifications are lost.
    var losesReceipts = false
    /// Called between two links.
    var meanwhile: (inout SecureDFUTarget<VolatileMemory>) -> Void = { _ in }

    let image: [UInt8]
    let initPacket: [UInt8]
    var target: SecureDFUTarget<VolatileMemory>
    private(set) var packets = 0
    private(set) var requests: [DFURequest] = []
    private(set) var notifications = 0
    private(set) var links = 0
    /// The number of image bytes that were sent, including repeated ones.
    private(set) var imageBytes = 0
    private(set) var activated = false
    private var now = at(0)

    init(
        size: Int,
        rules: SecureDFUTarget<VolatileMemory>.Rules = .init(),
        facts: TransferFacts = TransferFacts()
    ) throws {
        image = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let digest = SHA256.digest(of: image)
        initPacket =
            InitPacket(type: .application, applicationSize: UInt32(size), digest: digest)
            .serialized
        target = SecureDFUTarget(
            rules: rules,
            facts: facts,
            memory: VolatileMemory(capacity: 1 << 17),
            sha256: SHA256.digest
        )
    }

    var isComplete: Bool { activated && target.memory.read(0..<image.count) == image }

    /// Uploads over as many links as necessary, at most `limit`, and returns the last ending.
    mutating func upload(
        _ settings: UploadSettings,
        links limit: Int = 1
    ) -> SecureDFUUpload.Ending {
        while true {
            let ending = uploadOnOneLink(settings)
            links += 1
            guard links < limit, !activated else { return ending }
            switch ending {
            case .finished, .stopped:
                return ending
            case .finishedOrLost:
                // The image is not activated: the module is found in its bootloader again.
                break
            case .failed(let error):
                guard error.failureClass == .transient else { return ending }
            }
            target.linkClosed()
            meanwhile(&target)
        }
    }

    private mutating func uploadOnOneLink(_ settings: UploadSettings) -> SecureDFUUpload.Ending {
        let part = FirmwarePart(initPacket: initPacket, firmware: image)
        var machine = SecureDFUUpload(part, settings: settings)
        var queue: [[UInt8]] = []
        target.notificationsSwitched(on: true)
        var action = machine.begin(at: now)
        while true {
            now = now.advanced(by: .milliseconds(1))
            var isLinked = true
            switch action {
            case .ended(let ending):
                return ending
            case .pause(let over):
                now = max(now, over)
                action = machine.pauseOver(at: now)
                continue
            case .write(let request):
                isLinked = write(request, &queue)
            case .send(let range, let part):
                isLinked = send(range, of: part, settings, &queue)
                if isLinked {
                    action = machine.packetsSent(at: now)
                    continue
                }
            case .wait:
                break
            }
            if !queue.isEmpty {
                action = machine.response(queue.removeFirst(), at: now)
            } else if !isLinked || activated {
                action = machine.linkFailed(.lost, at: now)
            } else if let deadline = machine.deadline {
                now = max(now, deadline)
                action = machine.timeout(at: now)
            }
        }
    }

    /// True when the link is still up.
    private mutating func write(_ request: DFURequest, _ queue: inout [[UInt8]]) -> Bool {
        let fate = requestFate(requests.count)
        requests.append(request)
        if fate == .linkBreaksBefore { return false }
        guard let actions = target.controlPointWritten(request.bytes) else { return false }
        return notify(actions, &queue) && fate != .linkBreaksAfter
    }

    private mutating func send(
        _ range: Range<Int>,
        of part: UploadError.Part,
        _ settings: UploadSettings,
        _ queue: inout [[UInt8]]
    ) -> Bool {
        let bytes = part == .image ? image : initPacket
        for start in stride(from: range.lowerBound, to: range.upperBound, by: settings.packetLength)
        {
            let packet = bytes[start..<min(start + settings.packetLength, range.upperBound)]
            let fate = packetFate(packets)
            packets += 1
            if fate == .linkBreaksBefore { return false }
            if part == .image { imageBytes += packet.count }
            if fate == .isLost { continue }
            let actions = target.packetWritten(Array(packet))
            guard losesReceipts || notify(actions, &queue) else { return false }
            if fate == .linkBreaksAfter { return false }
        }
        return true
    }

    private mutating func notify(
        _ actions: [SecureDFUAction],
        _ queue: inout [[UInt8]]
    ) -> Bool {
        var isLinked = true
        for action in actions {
            switch action {
            case .erase:
                break
            case .restart(let activate):
                activated = activated || activate
            case .notify(let bytes):
                let fate = notificationFate(notifications)
                notifications += 1
                switch fate {
                case .passes: queue.append(bytes)
                case .isLost: break
                case .comesTwice: queue += [bytes, bytes]
                case .linkBreaksBefore:
                    isLinked = false
                case .linkBreaksAfter:
                    queue.append(bytes)
                    isLinked = false
                }
            }
        }
        return isLinked
    }
}

extension Bench: CustomTestStringConvertible {
    var testDescription: String {
        "\(imageBytes) of \(image.count) bytes sent on \(links) links, activated: \(activated), \(requests)"
    }
}

/// Settings with packets of 244 bytes, or of another length.
func settings(
    length: Int = 244,
    receipts: UInt16 = 12,
    window: Int? = nil,
    retries: Int = 3
) throws -> UploadSettings {
    try #require(
        UploadSettings(
            maximumLength: length,
            receiptInterval: receipts,
            window: window,
            retriesPerObject: retries
        )
    )
}
