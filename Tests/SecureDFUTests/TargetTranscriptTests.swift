import Base
import Families
import Simulation
import Testing

private typealias Target = SecureDFUTarget<VolatileMemory>

/// An event for a target, and its expected answer.
private enum Step: Sendable {
    case on
    case off
    /// A write to the control point, in hex, and the notifications that follow, in hex.
    case ask(String, [String])
    /// A write to the control point, in hex, and all actions that follow.
    case act(String, [Target.Action])
    /// A write to the control point, in hex, that is answered with an ATT error.
    case unheard(String)
    /// The image's next bytes, this many, as one packet, and the notifications that follow.
    case packet(Int, [String])
    /// One packet of this many bytes that are not the image's.
    case wrong(Int)
    /// The whole init packet: create, send, execute.
    case initPacket
    /// Creates, sends and executes the object that begins at the first number and has the second
    /// number as its length; it is not the last object.
    case object(Int, Int)
    /// Sets the offset of the next packet in the image.
    case seek(Int)
    case drained(Int)
    case close
    case reset
}

private struct Transcript: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let size: Int
    let rules: Target.Rules
    let steps: [Step]

    init(_ name: String, size: Int = 9_000, rules: Target.Rules = .init(), _ steps: [Step]) {
        testDescription = name
        self.size = size
        self.rules = rules
        self.steps = steps
    }
}

@Suite struct TargetTranscriptTests {
    private static let transcripts: [Transcript] = [
        Transcript(
            "without notifications a write is an ATT error",
            [.unheard("03"), .on, .off, .unheard("0601")]
        ),
        Transcript(
            "notifications end with the link",
            [.on, .close, .unheard("0601")]
        ),
        Transcript("an empty write is an invalid request", [.on, .ask("", ["600000"])]),
        Transcript(
            "an unknown operation is refused by its number",
            [.on, .ask("05", ["600502"]), .ask("ff010203", ["60ff02"]), .ask("6001", ["606002"])]
        ),
        Transcript(
            "a request of the wrong length is refused",
            [
                .on, .ask("01", ["600103"]), .ask("010100", ["600103"]), .ask("0201", ["600203"]),
                .ask("0300", ["600303"]), .ask("0400", ["600403"]), .ask("06", ["600603"]),
                .ask("0c00", ["600c03"]),
            ]
        ),
        Transcript(
            "an unknown type of object is refused",
            [.on, .ask("010010000000", ["600107"]), .ask("0603", ["600607"])]
        ),
        Transcript(
            "serial requests are answered without contents",
            [
                .on, .ask("00", ["600001"]), .ask("07", ["600701"]), .ask("0905", ["600901"]),
                .ask("0a", ["600a01"]), .ask("0b00", ["600b01"]), .ask("0801", ["600802"]),
            ]
        ),
        Transcript(
            "serial requests are refused where the build has none",
            rules: rules { $0.answersSerialRequests = false },
            [.on, .ask("00", ["600002"]), .ask("0a", ["600a02"])]
        ),
        Transcript(
            "before an object is chosen there is nothing to check or execute",
            [.on, .ask("03", ["600308"]), .ask("04", ["600408"]), .packet(20, [])]
        ),
        Transcript(
            "selecting tells the largest sizes and that nothing has come",
            rules: rules {
                $0.maximumInitSize = 256
                $0.objectSize = 8_192
            },
            [
                .on, .ask("0601", ["600601000100000000000000000000"]),
                .ask("0602", ["600601002000000000000000000000"]),
            ]
        ),
        Transcript(
            "an init packet has at least a byte and at most what is advertised",
            rules: rules { $0.maximumInitSize = 256 },
            [
                .on, .ask("010100000000", ["600103"]), .ask("010101010000", ["600104"]),
                .ask("0101ffffffff", ["600104"]), .ask("010100010000", ["600101"]),
            ]
        ),
        Transcript(
            "an incomplete init packet is not executed",
            [.on, .ask("010102000000", ["600101"]), .wrong(1), .ask("04", ["600408"])]
        ),
        Transcript(
            "more than the init packet's stated size is dropped as a whole",
            [
                .on, .ask("010104000000", ["600101"]), .wrong(3), .wrong(2),
                .ask("03", ["60030103000000" + crc([0xEE, 0xEE, 0xEE])]), .wrong(1),
                .ask("03", ["60030104000000" + crc([0xEE, 0xEE, 0xEE, 0xEE])]),
            ]
        ),
        Transcript(
            "an init packet that is none is refused and forgotten",
            [
                .on, .ask("010104000000", ["600101"]), .wrong(4), .ask("04", ["600405"]),
                .ask("0601", ["600601000200000000000000000000"]), .ask("04", ["600408"]),
            ]
        ),
        Transcript(
            "an accepted init packet is executed again without harm",
            [.on, .initPacket, .ask("04", ["600401"]), .ask("0601", []), .ask("04", ["600401"])]
        ),
        Transcript(
            "data without an accepted init packet is not permitted",
            [
                .on, .ask("010200100000", ["600108"]), .ask("0602", []), .ask("04", ["600408"]),
                .packet(20, []), .ask("03", ["6003010000000000000000"]),
            ]
        ),
        Transcript(
            "a data object is a whole number of pages",
            [
                .on, .initPacket, .ask("010200000000", ["600103"]),
                .ask("010201000000", ["600103"]), .ask("010201100000", ["600104"]),
                .act("010200100000", [.erase(offset: 0), notify("600101")]),
            ]
        ),
        Transcript(
            "a data object is no larger than advertised",
            [.on, .initPacket, .ask("010200200000", ["600104"]), .ask("0102000000f0", ["600104"])]
        ),
        Transcript(
            "a data object does not go beyond the image",
            size: 5_000,
            [
                .on, .initPacket, .object(0, 4_096), .ask("010200100000", ["600108"]),
                .act("010288030000", [.erase(offset: 4_096), notify("600101")]),
            ]
        ),
        Transcript(
            "a small image is one object",
            size: 20,
            [
                .on, .initPacket, .ask("010200100000", ["600108"]),
                .act("010214000000", [.erase(offset: 0), notify("600101")]),
            ]
        ),
        Transcript(
            "an object of several pages erases them all",
            rules: rules { $0.objectSize = 8_192 },
            [
                .on, .initPacket,
                .act("010200200000", [.erase(offset: 0), .erase(offset: 4_096), notify("600101")]),
            ]
        ),
        Transcript(
            "an object with bytes missing is not executed",
            [
                .on, .initPacket, .ask("010200100000", ["600101"]), .packet(244, []),
                .ask("04", ["600408"]), .packet(3_851, []), .ask("04", ["600408"]), .packet(1, []),
                .ask("04", ["600401"]),
            ]
        ),
        Transcript(
            "executing nothing at all is not permitted",
            [.on, .initPacket, .ask("0602", []), .ask("04", ["600408"])]
        ),
        Transcript(
            "the second execute of an object is harmless",
            [.on, .initPacket, .object(0, 4_096), .ask("04", ["600401"]), .object(4_096, 4_096)]
        ),
        Transcript(
            "the second execute of an object is refused by some builds",
            rules: rules { $0.refusesSecondExecute = true },
            [.on, .initPacket, .object(0, 4_096), .ask("04", ["600408"]), .object(4_096, 4_096)]
        ),
        Transcript(
            "packets beyond the object are dropped as a whole",
            [
                .on, .initPacket, .ask("010200100000", ["600101"]), .packet(4_000, []), .wrong(97),
                .packet(96, []), .wrong(1), .ask("04", ["600401"]), .wrong(1),
                .ask("03", ["checksum 4096"]),
            ]
        ),
        Transcript(
            "selecting data tells of everything that has arrived, executed or not",
            [
                .on, .initPacket, .object(0, 4_096), .ask("010200100000", ["600101"]),
                .packet(100, []), .ask("0602", ["selected 4196"]), .ask("03", ["checksum 4196"]),
                .ask("0601", []), .ask("0602", ["selected 4196"]),
            ]
        ),
        Transcript(
            "creating a data object goes back to the last executed offset",
            [
                .on, .initPacket, .object(0, 4_096), .ask("010200100000", ["600101"]), .wrong(100),
                .act("010200100000", [.erase(offset: 4_096), notify("600101")]),
                .ask("03", ["checksum 4096"]), .seek(4_096), .packet(4_096, []),
                .ask("03", ["checksum 8192"]), .ask("04", ["600401"]),
            ]
        ),
        Transcript(
            "creating a command object wipes all progress",
            [
                .on, .initPacket, .object(0, 4_096), .ask("010110000000", ["600101"]),
                .ask("0602", ["selected 0"]), .ask("010200100000", ["600108"]),
            ]
        ),
        Transcript(
            "an object goes on where it stands after the link was lost",
            [
                .on, .initPacket, .object(0, 4_096), .ask("010200100000", ["600101"]),
                .packet(244, []), .close, .packet(244, []), .on, .ask("03", ["600308"]),
                .seek(4_340),
                .ask("0602", ["selected 4340"]), .packet(3_852, []), .ask("04", ["600401"]),
            ]
        ),
        Transcript(
            "an init packet goes on where it stands after the link was lost",
            [
                .on, .ask("010104000000", ["600101"]), .wrong(2), .close, .on,
                .ask("0601", ["60060100020000" + "02000000" + crc([0xEE, 0xEE])]), .wrong(2),
                .ask("03", ["60030104000000" + crc([0xEE, 0xEE, 0xEE, 0xEE])]),
            ]
        ),
        Transcript(
            "a reset forgets all progress",
            [
                .on, .initPacket, .object(0, 4_096), .reset, .on, .ask("0602", ["selected 0"]),
                .ask("0601", ["600601000200000000000000000000"]),
            ]
        ),
        Transcript(
            "a reset forgets what was not executed where progress is saved",
            rules: rules { $0.keepsProgress = true },
            [
                .on, .initPacket, .object(0, 4_096), .ask("010200100000", ["600101"]),
                .packet(100, []), .reset, .on, .ask("0602", ["selected 4096"]),
                .ask("04", ["600401"]), .seek(4_096), .object(4_096, 4_096),
            ]
        ),
        Transcript(
            "a receipt follows each so many packets",
            [
                .on, .initPacket, .ask("020200", ["600201"]), .ask("010200100000", ["600101"]),
                .packet(20, []), .packet(20, ["checksum 40"]), .packet(20, []),
                .packet(20, ["checksum 80"]), .ask("020000", ["600201"]), .packet(20, []),
                .packet(20, []), .packet(20, []),
            ]
        ),
        Transcript(
            "the count of packets begins again with each object",
            [
                .on, .initPacket, .ask("020200", ["600201"]), .ask("010200100000", ["600101"]),
                .packet(20, []), .ask("010200100000", ["600101"]), .seek(0), .packet(20, []),
                .packet(20, ["checksum 40"]),
            ]
        ),
        Transcript(
            "a dropped packet is not counted for a receipt",
            [
                .on, .initPacket, .ask("020200", ["600201"]), .ask("010200100000", ["600101"]),
                .packet(20, []), .wrong(4_090), .packet(20, ["checksum 40"]),
            ]
        ),
        Transcript(
            "receipts end with the link",
            [
                .on, .initPacket, .ask("020100", ["600201"]), .close, .on, .ask("0602", []),
                .ask("010200100000", ["600101"]), .packet(20, []),
            ]
        ),
        Transcript(
            "packets beyond the pool are dropped until there is room",
            rules: rules { $0.packetPool = 2 },
            [
                .on, .initPacket, .ask("010200100000", ["600101"]), .packet(20, []),
                .packet(20, []), .wrong(20), .ask("03", ["checksum 40"]), .drained(1),
                .packet(20, []), .wrong(20), .ask("03", ["checksum 60"]), .drained(9),
                .packet(20, []), .packet(20, []), .wrong(20), .ask("03", ["checksum 100"]),
            ]
        ),
        Transcript(
            "the last object's execute restarts the module into the image",
            size: 4_100,
            [
                .on, .initPacket, .object(0, 4_096), .ask("010204000000", ["600101"]),
                .packet(4, []),
                .act("04", [notify("600401"), .restart(activate: true)]),
                .act("04", []), .act("0601", []), .packet(4, []),
                .reset, .on, .ask("0602", ["selected 0"]),
            ]
        ),
        Transcript(
            "an image with the wrong hash is refused and all progress is gone",
            size: 20,
            [
                .on, .initPacket, .ask("010214000000", ["600101"]), .wrong(20),
                .ask("04", ["60040b0c"]), .ask("0602", ["selected 0"]),
                .ask("0601", ["600601000200000000000000000000"]),
                .ask("010214000000", ["600108"]),
            ]
        ),
        Transcript(
            "abort restarts without an answer and without the image",
            [
                .on, .initPacket, .object(0, 4_096), .act("0c", [.restart(activate: false)]),
                .act("03", []), .packet(20, []), .reset, .on, .ask("0602", ["selected 0"]),
            ]
        ),
    ]

    /// The default rules with a change.
    private static func rules(_ change: (inout Target.Rules) -> Void) -> Target.Rules {
        var rules = Target.Rules()
        change(&rules)
        return rules
    }

    @Test(arguments: transcripts)
    private func `the target answers as a real bootloader`(transcript: Transcript) throws {
        var random = SplitMix64(seed: 1)
        let image = (0..<transcript.size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(image.count),
            digest: SHA256.digest(of: image),
            firmwareVersion: 41_200
        ).serialized
        var target = Target(
            rules: transcript.rules,
            memory: VolatileMemory(capacity: 1 << 16),
            sha256: SHA256.digest
        )
        var position = 0

        func ask(_ hex: String) throws -> [Target.Action] {
            let bytes = try #require(Hex.bytes(hex))
            let actions = target.controlPointWritten(bytes)
            return try #require(actions)
        }
        func notified(_ actions: [Target.Action]) -> [String] {
            actions.compactMap { if case .notify(let bytes) = $0 { Hex.text(bytes) } else { nil } }
        }
        func send(_ count: Int) -> [String] {
            let end = min(position + count, image.count)
            defer { position = end }
            return notified(target.packetWritten(Array(image[position..<end])))
        }
        /// `checksum N` and `selected N` stand for the answers for the image's first N bytes.
        func spelled(_ text: String) -> String {
            let words = text.split(separator: " ")
            guard words.count == 2, let count = Int(words[1]) else { return text }
            let crc = CRC32.of(image[..<count])
            let size = UInt32(transcript.rules.objectSize)
            let response: DFUResponse =
                words[0] == "checksum"
                ? .checksum(offset: UInt32(count), crc: crc)
                : .selected(maximumSize: size, offset: UInt32(count), crc: crc)
            return Hex.text(response.bytes)
        }

        for (number, step) in transcript.steps.enumerated() {
            switch step {
            case .on: target.notificationsSwitched(on: true)
            case .off: target.notificationsSwitched(on: false)
            case .ask(let hex, let answers):
                let got = notified(try ask(hex))
                guard !answers.isEmpty else { continue }
                #expect(got == answers.map(spelled), "step \(number)")
            case .act(let hex, let actions):
                #expect(try ask(hex) == actions, "step \(number)")
            case .unheard(let hex):
                let bytes = try #require(Hex.bytes(hex))
                #expect(target.controlPointWritten(bytes) == nil, "step \(number)")
            case .packet(let count, let answers):
                #expect(send(count) == answers.map(spelled), "step \(number)")
            case .wrong(let count):
                let got = target.packetWritten([UInt8](repeating: 0xEE, count: count))
                #expect(got.isEmpty, "step \(number)")
            case .initPacket:
                let create = DFURequest.create(.command, size: UInt32(packet.count))
                _ = target.controlPointWritten(create.bytes)
                _ = target.packetWritten(packet)
                #expect(try ask("04") == [notify("600401")], "step \(number)")
            case .object(let start, let length):
                position = start
                let create = DFURequest.create(.data, size: UInt32(length))
                #expect(notified(target.controlPointWritten(create.bytes) ?? []) == ["600101"])
                #expect(send(length) == [])
                #expect(try ask("04") == [notify("600401")], "step \(number)")
            case .seek(let offset): position = offset
            case .drained(let count): target.drained(count)
            case .close: target.linkClosed()
            case .reset: target.reset()
            }
        }
    }

    private static func crc(_ bytes: [UInt8]) -> String {
        Hex.text(CRC32.of(bytes).littleBytes)
    }

    private static func notify(_ hex: String) -> Target.Action { .notify(Hex.bytes(hex) ?? []) }
    private func notify(_ hex: String) -> Target.Action { Self.notify(hex) }
}
