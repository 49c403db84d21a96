import Base
import Families
import Testing

/// The bytes of a text in hexadecimal; spaces are ignored.
func hex(_ text: String) -> [UInt8] { Hex.bytes(text.filter { $0 != " " }) ?? [] }

/// One frame from the documents: its type, body and bytes.
struct FrameVector: Sendable, CustomTestStringConvertible {
    let type: AddOnType
    let body: [UInt8]
    let bytes: [UInt8]

    init(_ type: AddOnType, _ body: String, _ bytes: String) {
        self.type = type
        self.body = hex(body)
        self.bytes = hex(bytes)
    }

    var testDescription: String { Hex.text(bytes) }

    private static let twenty = "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20"
    private static let random =
        "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f"

    static let all = [
        FrameVector(.handshakeRequest, "", "02 01 00 03 08 03"),
        FrameVector(.acknowledgement, "", "02 02 00 04 0A 03"),
        FrameVector(.confirmation, "5F 10 01 00", "02 81 04 5F 10 01 00 F7 D6 03"),
        FrameVector(.confirmation, "5D 10 00 00", "02 81 04 5D 10 00 00 F4 CC 03"),
        FrameVector(.confirmation, "70 10 00 00", "02 81 04 70 10 00 00 07 18 03"),
        FrameVector(.confirmation, "0C 10 00 00", "02 81 04 0C 10 00 00 A3 88 03"),
        FrameVector(.confirmation, "2D 10 01 00", "02 81 04 2D 10 01 00 C5 0E 03"),
        FrameVector(.status, "15 8A C8 00 00 00", "02 80 06 15 8A C8 00 00 00 EF 8C 03"),
        FrameVector(.status, "0F 27 E6 00 00 00", "02 80 06 0F 27 E6 00 00 00 A4 F1 03"),
        FrameVector(.messageToVehicle, "01", "02 88 01 00 01 8C 2E 03"),
        FrameVector(.messageToHost, "01", "02 24 01 00 01 28 9E 03"),
        FrameVector(.messageToVehicle, twenty, "02 88 14 00 \(twenty) B8 B6 03"),
        FrameVector(.messageToHost, twenty, "02 24 14 00 \(twenty) 54 BA 03"),
        FrameVector(.reply, "01 00 00 00", "02 22 04 01 00 00 00 29 F2 03"),
        FrameVector(.reply, "00 00 00 00", "02 22 04 00 00 00 00 28 EE 03"),
        FrameVector(.ping, "", "02 89 00 8B 18 03"),
        FrameVector(.versionRequest, "", "02 8B 00 8D 1C 03"),
        FrameVector(.vehicleDataRequest, "", "02 85 00 87 10 03"),
        FrameVector(.vehicleDataAcknowledgement, "", "02 84 00 86 0E 03"),
        FrameVector(.version, "01 00 02 00", "02 27 04 01 00 02 00 30 14 03"),
        FrameVector(.protobufToVehicle, "0A 04 0A 02 08 01", "02 8C 06 0A 04 0A 02 08 01 B7 2B 03"),
        FrameVector(
            .protobufToHost,
            "0A 06 0A 04 08 01 10 01",
            "02 26 08 0A 06 0A 04 08 01 10 01 68 E8 03"
        ),
        FrameVector(.messageToVehicle, "00 01 00", "02 88 03 00 00 01 00 8E 4F 03"),
        FrameVector(
            .messageToHost,
            "01 01 00 \(random)",
            "02 24 23 00 01 01 00 \(random) 3B 4A 03"
        ),
        FrameVector(.messageToHost, "81 00", "02 24 02 00 81 00 A9 CA 03"),
        FrameVector(.messageToHost, "81 01", "02 24 02 00 81 01 AA CB 03"),
        FrameVector(.messageToHost, "0A 02 08 01", "02 24 04 00 0A 02 08 01 3F 63 03"),
    ]
}

@Suite struct FrameTests {
    @Test(arguments: FrameVector.all)
    func `a frame is written and read as the documents have it`(vector: FrameVector) throws {
        let frame = try AddOnFrame(vector.type, vector.body)
        #expect(frame.bytes == vector.bytes)
        #expect(try AddOnFrame(vector.bytes, sums: .strict) == frame)
    }

    @Test func `what we say in the handshake is what the documents say`() {
        #expect(AddOnFrame.confirmation().bytes == hex("02 81 04 5F 10 01 00 F7 D6 03"))
        #expect(AddOnFrame.handshakeRequest.bytes == hex("02 01 00 03 08 03"))
        #expect(AddOnFrame.acknowledgement.bytes == hex("02 02 00 04 0A 03"))
        #expect(AddOnFrame.reply(accepted: true).bytes == hex("02 22 04 01 00 00 00 29 F2 03"))
        #expect(AddOnFrame.reply(accepted: false).bytes == hex("02 22 04 00 00 00 00 28 EE 03"))
    }

    @Test(arguments: ["02 22 04 01 00 00 00 00 00 03", "02 22 04 00 00 00 00 00 00 03"])
    func `a reply may carry two zeros for a checksum, where that is allowed`(text: String) throws {
        let bytes = hex(text)
        #expect(try AddOnFrame(bytes, sums: .trusting).body == Array(bytes[3..<7]))
        #expect(throws: AddOnFrameError.checksum) { try AddOnFrame(bytes, sums: .strict) }
    }

    @Test(
        arguments: [
            ("01 24 01 00 01 28 9D 03", .start(1)),
            ("02 01 00 03 08 04", .end(4)),
            ("02 02 07 04 0A 03", .length(7, type: 2)),
            // The example of the wire specification; its sum differs from the one that the
            // specification's text leads to.
            ("02 8C 06 0A 04 0A 02 08 01 B7 28 03", .checksum),
            ("02 24 01 00 01 28 9F 03", .checksum),
            ("02 24 01 00 01 29 9E 03", .checksum),
            ("02 22 04 01 00 00 00 00 01 03", .checksum),
            ("02 24 02 00 01 28 9E 03", .truncated(got: 8, of: 9)),
            ("02 24 01 00 01 28 9E 03 00", .excess(got: 9, of: 8)),
            ("02 24 01", .truncated(got: 3, of: nil)),
            ("02", .truncated(got: 1, of: nil)), ("", .truncated(got: 0, of: nil)),
            ("02 03 00 05 0C 03", .type(3)), ("02 8D 00 8F 20 03", .type(0x8D)),
            ("02 88 00 00 8A 1E 03", .length(0, type: 0x88)),
            ("02 88 01 04", .length(1_025, type: 0x88)),
            ("02 82 00 84 0A 03", .length(0, type: 0x82)),
            ("02 21 27", .length(39, type: 0x21)),
        ] as [(String, AddOnFrameError)]
    )
    func `a bad frame is refused for what is wrong with it`(
        text: String,
        error: AddOnFrameError
    ) {
        #expect(throws: error) { try AddOnFrame(hex(text)) }
        #expect(!error.description.isEmpty)
    }

    @Test(arguments: AddOnType.allCases)
    func `a body has the lengths of its type and no others`(type: AddOnType) throws {
        for length in [type.bodyLengths.lowerBound, type.bodyLengths.upperBound] {
            let frame = try AddOnFrame(type, [UInt8](repeating: 7, count: length))
            #expect(frame.bytes.count == length + (type.isExtended ? 7 : 6))
            #expect(try AddOnFrame(frame.bytes, sums: .strict) == frame)
        }
        let outside = [type.bodyLengths.lowerBound - 1, type.bodyLengths.upperBound + 1]
        for length in outside where length >= 0 {
            #expect(throws: AddOnFrameError.length(length, type: type.rawValue)) {
                try AddOnFrame(type, [UInt8](repeating: 7, count: length))
            }
        }
    }

    @Test func `the service of a vehicle follows from its hardware id`() {
        let service = AddOnNumbers.service(ofHardware: 553_845_661, sha256: digest)
        #expect(service?.description == "0574583b-0d8d-2962-4d79-0f43eeb96c98")
        #expect(AddOnNumbers.notify.description == "430f2ea3-c765-4051-9134-a341254cfd00")
        #expect(AddOnNumbers.write.description == "906ee7e0-d8db-44f3-af54-6b0dfcecdf1c")
    }
}

@Suite struct AssemblerTests {
    private static let long = FrameVector.all.first {
        $0.body.count == 20 && $0.type == .messageToHost
    }

    @Test func `a long frame comes in pieces of twenty and seven`() throws {
        let vector = try #require(Self.long)
        var assembler = AddOnAssembler()
        #expect(assembler.take(Array(vector.bytes[..<20])) == [])
        #expect(assembler.isMidFrame)
        let frame = try AddOnFrame(vector.type, vector.body)
        #expect(assembler.take(Array(vector.bytes[20...])) == [.frame(frame)])
        #expect(!assembler.isMidFrame)
    }

    @Test(arguments: 1...27)
    func `a frame comes in pieces of any length`(length: Int) throws {
        let vector = try #require(Self.long)
        var assembler = AddOnAssembler(sums: .strict)
        var events: [AddOnAssembler.Event] = []
        for start in stride(from: 0, to: vector.bytes.count, by: length) {
            events += assembler.take(
                Array(vector.bytes[start..<min(start + length, vector.bytes.count)])
            )
        }
        #expect(events == [.frame(try AddOnFrame(vector.type, vector.body))])
    }

    @Test func `what goes beyond the frame's end damages it, and the next one is whole`() throws {
        let vector = try #require(Self.long)
        var assembler = AddOnAssembler()
        _ = assembler.take(Array(vector.bytes[..<20]))
        #expect(
            assembler.take(Array(vector.bytes[20...]) + [0])
                == [.damaged(.excess(got: 28, of: 27))]
        )
        #expect(
            assembler.take(vector.bytes) == [.frame(try AddOnFrame(vector.type, vector.body))]
        )
    }

    @Test func `several frames in one write are each heard`() throws {
        let vector = try #require(Self.long)
        let long = try AddOnFrame(vector.type, vector.body)
        let accepted = AddOnFrame.reply(accepted: true)
        var assembler = AddOnAssembler()
        #expect(
            assembler.take(accepted.bytes + long.bytes + AddOnFrame.acknowledgement.bytes)
                == [.frame(accepted), .frame(long), .frame(.acknowledgement)]
        )
        // The last frame may continue in further writes.
        #expect(assembler.take(accepted.bytes + Array(vector.bytes[..<9])) == [.frame(accepted)])
        #expect(assembler.isMidFrame)
        #expect(
            assembler.take(Array(vector.bytes[9...]) + accepted.bytes[..<1]) == [.frame(long)]
        )
        #expect(assembler.take(Array(accepted.bytes[1...])) == [.frame(accepted)])
        #expect(!assembler.isMidFrame)
    }

    @Test func `frames before a damaged one are heard`() throws {
        let vector = try #require(Self.long)
        let accepted = AddOnFrame.reply(accepted: true)
        var damaged = vector.bytes
        damaged[6] ^= 1
        var assembler = AddOnAssembler()
        #expect(
            assembler.take(accepted.bytes + damaged + accepted.bytes)
                == [.frame(accepted), .damaged(.checksum)]
        )
        // No frame type has this number, so no frame begins here.
        #expect(
            assembler.take(accepted.bytes + accepted.bytes + [2, 0x33])
                == [.frame(accepted), .damaged(.excess(got: 12, of: 10))]
        )
        #expect(!assembler.isMidFrame)
    }

    @Test func `a frame that is given up is reported with how far it came`() throws {
        let vector = try #require(Self.long)
        var assembler = AddOnAssembler()
        #expect(assembler.abandon() == nil)
        _ = assembler.take(Array(vector.bytes[..<20]))
        #expect(assembler.abandon() == .damaged(.truncated(got: 20, of: 27)))
        _ = assembler.take([2])
        #expect(assembler.abandon() == .damaged(.truncated(got: 1, of: nil)))
        #expect(!assembler.isMidFrame)
    }

    @Test func `a vehicle that starts again in the middle of a frame is heard`() throws {
        let vector = try #require(Self.long)
        var assembler = AddOnAssembler()
        _ = assembler.take(Array(vector.bytes[..<20]))
        #expect(
            assembler.take(AddOnFrame.handshakeRequest.bytes)
                == [.damaged(.truncated(got: 20, of: nil)), .frame(.handshakeRequest)]
        )
    }

    @Test func `six bytes that end a frame are its end, whatever they look like`() throws {
        // A body whose last bytes, with sum and end, are equal to the handshake request.
        let wanted = AddOnFrame.handshakeRequest.bytes
        let found = (0..<1 << 16).lazy.compactMap { number -> AddOnFrame? in
            let body: [UInt8] = [UInt8(number & 0xFF), UInt8(number >> 8), 0x02, 0x01, 0x00]
            let frame = try? AddOnFrame(.messageToHost, body)
            return frame.flatMap { Array($0.bytes.suffix(6)) == wanted ? $0 : nil }
        }.first
        let frame = try #require(found)
        var assembler = AddOnAssembler(sums: .strict)
        #expect(assembler.take(Array(frame.bytes.dropLast(6))) == [])
        #expect(assembler.take(wanted) == [.frame(frame)])
    }

    @Test func `a write without a byte is reported`() {
        var assembler = AddOnAssembler()
        #expect(assembler.take([]) == [.damaged(.empty)])
    }

    @Test func `a frame that never ends holds no more than the longest one`() {
        var assembler = AddOnAssembler()
        #expect(assembler.take([2, 0x24, 0xFF, 0xFF]) == [])
        var events: [AddOnAssembler.Event] = []
        for _ in 0..<300 { events += assembler.take([UInt8](repeating: 2, count: 244)) }
        // The frame is judged after 65,542 bytes; the following bytes begin again and form no
        // frame.
        #expect(events.first == .damaged(.excess(got: 65_640, of: 65_542)))
        #expect(events.count > 1)
    }
}
