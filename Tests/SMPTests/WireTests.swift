import Base
import Families
import Testing

/// CBOR, headers, messages and images, byte by byte.
@Suite struct SMPWireTests {
    // MARK: CBOR

    @Test(arguments: [
        ("00", CBORValue.unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)),
        ("1903e8", .unsigned(1_000)), ("1a000f4240", .unsigned(1_000_000)),
        ("1bffffffffffffffff", .unsigned(.max)), ("20", .negative(0)), ("3903e7", .negative(999)),
        ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("f7", .undefined),
        ("f0", .simple(16)), ("f8ff", .simple(255)), ("f93c00", .float(1)),
        ("f90001", .float(5.960464477539063e-8)), ("fa47c35000", .float(100_000)),
        ("fb3ff199999999999a", .float(1.1)), ("f97c00", .float(.infinity)),
        ("4401020304", .bytes([1, 2, 3, 4])), ("6449455446", .text("IETF")), ("60", .text("")),
        ("80", .array([])), ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
        ("9f0102ff", .array([.unsigned(1), .unsigned(2)])),
        ("bf616101ff", .map(["a": .unsigned(1)])), ("a0", .map([])),
        ("c11a514b67b0", .tagged(1, .unsigned(1_363_896_240))),
        // Forms of other encoders: strings in pieces, and numbers longer than necessary.
        ("5f41aa4201bbff", .bytes([0xAA, 1, 0xBB])), ("5fff", .bytes([])),
        ("7f626f66606166ff", .text("off")),
        (
            "bf636f66661b0000000000000100ff",
            .map(["off": .unsigned(256)])
        ), ("b80163666f6f1800", .map(["foo": .unsigned(0)])),
    ])
    func `an item is read`(hex: String, value: CBORValue) throws {
        #expect(try CBORValue(cbor: Hex.bytes(hex) ?? []) == value)
        #expect(try CBORValue(cbor: value.serialized) == value)
    }

    @Test(arguments: [
        ("", CBORError.Reason.endsEarly, 0), ("18", .endsEarly, 1), ("1900", .endsEarly, 2),
        ("42aa", .endsEarly, 0), ("5bffffffffffffffff", .endsEarly, 0), ("81", .endsEarly, 1),
        ("9bffffffffffffffff00", .endsEarly, 10), ("9f01", .endsEarly, 2),
        ("bf6161", .endsEarly, 3), ("0000", .trailingBytes, 1), ("1c", .reserved(0x1C), 0),
        ("fc", .reserved(0xFC), 0), ("1f", .reserved(0x1F), 0), ("ff", .strayBreak, 0),
        ("81ff", .strayBreak, 1), ("5f61aaff", .badPiece, 1),
        ("5f5f41aaffff", .badPiece, 1), ("5f41aa", .endsEarly, 3), ("7f41aaff", .badPiece, 1),
        ("61ff", .invalidUTF8, 0), ("a2616101616102", .duplicateKey, 4),
        ("f810", .badSimpleValue, 0),
    ])
    func `what is no item is refused with its place`(
        hex: String,
        reason: CBORError.Reason,
        offset: Int
    ) {
        #expect(throws: CBORError(reason, at: offset)) {
            try CBORValue(cbor: Hex.bytes(hex) ?? [])
        }
    }

    @Test func `depth and keys are bounded`() {
        let deep = [UInt8](repeating: 0x81, count: 100_000) + [0]
        #expect(throws: CBORError(.nestedTooDeeply, at: 16)) { try CBORValue(cbor: deep) }
        let open = [UInt8](repeating: 0x9F, count: 100_000)
        #expect(throws: CBORError(.nestedTooDeeply, at: 16)) { try CBORValue(cbor: open) }
        var wide: [UInt8] = [0xBF]
        for key in 0..<300 { wide += CBORValue.int(key + 1_000).serialized + [0] }
        #expect(throws: CBORError.self) { try CBORValue(cbor: wide + [0xFF]) }
    }

    // MARK: Messages

    @Test func `a header is eight bytes`() throws {
        let header = SMPHeader(.write, group: 1, command: 1, sequence: 66, payloadLength: 300)
        #expect(header.bytes == [0x0A, 0, 0x01, 0x2C, 0, 1, 66, 1])
        #expect(SMPHeader(header.bytes) == header)
        // Bits without a meaning are ignored; operations without one are rejected.
        #expect(SMPHeader([0xEA, 0xFF, 0x01, 0x2C, 0, 1, 66, 1]) == header)
        #expect(SMPHeader([0x0C, 0, 0, 0, 0, 0, 0, 0]) == nil)
        #expect(SMPHeader([0x0A, 0, 0, 0, 0, 0, 0]) == nil)
    }

    @Test(arguments: [1, 3, 20, 182, 244, 495])
    func `a message is put together from pieces of any length`(length: Int) throws {
        let message = SMPRequest.echo(String(repeating: "x", count: 700)).bytes(sequence: 1)
        var reassembly = SMPReassembly()
        var found: [SMPFrame] = []
        for _ in 0..<2 {
            for start in stride(from: 0, to: message.count, by: length) {
                let end = min(start + length, message.count)
                if let frame = reassembly.take(Array(message[start..<end])) { found.append(frame) }
            }
        }
        #expect(found.map(\.bytes) == [message, message])
        #expect(reassembly.dropped == 0 && !reassembly.isWaiting)
    }

    @Test func `a lost piece spoils its message and no other`() throws {
        let message = SMPRequest.echo(String(repeating: "x", count: 700)).bytes(sequence: 1)
        let pieces = stride(from: 0, to: message.count, by: 244).map {
            Array(message[$0..<min($0 + 244, message.count)])
        }
        var reassembly = SMPReassembly()
        for piece in pieces.dropFirst() { #expect(reassembly.take(piece) == nil) }
        reassembly.reset()
        for piece in pieces.dropLast() { #expect(reassembly.take(piece) == nil) }
        #expect(reassembly.take(pieces[2])?.bytes == message)
    }

    @Test func `the short end of a lost message is not the beginning of the next`() throws {
        let message = SMPRequest.echo("hello").bytes(sequence: 1)
        var reassembly = SMPReassembly()
        #expect(reassembly.take(Array("xyz".utf8)) == nil)
        #expect(reassembly.take([0x01]) == nil && reassembly.isWaiting)
        #expect(reassembly.take(message)?.bytes == message, "what was no header is let go")
    }

    @Test func `a message beyond the buffer is dropped`() {
        var reassembly = SMPReassembly(limit: 64)
        let message = SMPRequest.echo(String(repeating: "x", count: 100)).bytes(sequence: 1)
        #expect(reassembly.take(Array(message[..<40])) == nil)
        #expect(!reassembly.isWaiting && reassembly.dropped == 1)
    }

    /// Tests offsets and lengths around every change of a header's length.
    @Test(arguments: [40, 63, 64, 128, 244, 261, 384, 1_024, 2_475, 65_543])
    func `a piece fills its message to the byte, and not beyond`(frame: Int) {
        let data = [UInt8](repeating: 1, count: 70_000)
        for offset in [0, 23, 24, 255, 256, 65_535, 65_536, 1_000_000] {
            let opening = SMPChunk.Opening(image: 1, length: 100_000, sha: nil)
            let room = SMPChunk.room(
                frameLength: frame,
                offset: offset,
                opening: offset == 0 ? opening : nil
            )
            guard room > 0 else { continue }
            let length = SMPRequest.upload(
                SMPChunk(
                    offset: offset,
                    data: data[..<room],
                    opening: offset == 0 ? opening : nil
                )
            ).bytes(sequence: 0).count
            #expect(length <= frame && length >= frame - 1, "\(offset): \(length)")
        }
    }

    @Test(arguments: [
        ("a1627263" + "0a", SMPFault.code(.busy, reason: nil)),
        ("a163657272a26567726f757001627263" + "09", .image(.noFreeSlot)),
        ("a163657272a26567726f75701840627263" + "05", .group(64, 5)),
        ("a26272630163" + "72736e" + "627761", .code(.unknown, reason: "wa")),
    ])
    func `both forms of an error are read`(hex: String, fault: SMPFault) throws {
        let frame = try #require(
            SMPFrame(
                .writeResponse,
                version: 1,
                group: 1,
                command: 1,
                sequence: 0,
                payload: Hex.bytes(hex) ?? []
            )
        )
        #expect(try SMPReply(frame).fault == fault)
    }

    @Test(arguments: ["a0", "a162726300", "a163657272a26567726f757001627263" + "00"])
    func `no error in any form is success`(hex: String) throws {
        let frame = try #require(
            SMPFrame(
                .writeResponse,
                version: 1,
                group: 1,
                command: 1,
                sequence: 0,
                payload: Hex.bytes(hex) ?? []
            )
        )
        #expect(try SMPReply(frame).fault == nil)
    }

    @Test func `words of a device cannot command a terminal`() throws {
        let body = CBORValue.map(["rc": .int(1), "rsn": .text("\u{1B}[2Jhello\nworld")])
        let frame = try #require(
            SMPFrame(
                .writeResponse,
                version: 0,
                group: 1,
                command: 1,
                sequence: 0,
                payload: body.serialized
            )
        )
        let words = try #require(SMPReply(frame).fault).description
        #expect(words.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }

    // MARK: Images

    @Test func `what imgtool writes is read`() throws {
        let signed = try MCUbootImage(fixture("signed.img"))
        #expect(signed.version == FirmwareVersion(2, 0, 1))
        #expect(signed.signatures == [.ecdsa])
        #expect(signed.securityCounter == 0x0200_0001)
        #expect(
            signed.dependencies == [.init(image: 0, atLeast: FirmwareVersion(1, 0))]
        )
        let tiny = try MCUbootImage(fixture("tiny.img"))
        #expect(tiny.version == FirmwareVersion(1, 2, 3, build: 45))
        #expect(tiny.signatures == [] && tiny.trailer == nil)
        #expect(try MCUbootImage(fixture("sha512.img")).hashKind == .sha512)
        #expect(try MCUbootImage(fixture("padded.img")).trailer?.isConfirmed == false)
        #expect(try MCUbootImage(fixture("confirmed.img")).trailer?.isConfirmed == true)
        #expect(try MCUbootImage(fixture("large.img")).header.headerSize == 0x200)
    }

    @Test func `a compressed image states once the hash that it has when it is installed`() throws {
        let bytes = try fixture("compressed.img")
        let image = try MCUbootImage(bytes)
        #expect(image.installedHash != image.hash && image.installedHash.count == 32)
        let plain = try MCUbootImage(fixture("tiny.img"))
        #expect(plain.installedHash == plain.hash)
        let value = try #require(image.values.first { $0.kind == .decompressedHash })
        var without = bytes
        without[value.offset] = 0xA0
        #expect(throws: MCUbootError(.noDecompressedHash, at: image.values[0].offset)) {
            try MCUbootImage(without)
        }
        let size = try #require(image.values.first { $0.kind.rawValue == 0x70 })
        var twice = bytes
        twice[size.offset] = 0x71
        #expect(throws: MCUbootError(.duplicateValue(.decompressedHash), at: value.offset)) {
            try MCUbootImage(twice)
        }
    }

    @Test func `an image is whole or it is none`() throws {
        let whole = try fixture("signed.img")
        for length in 0..<whole.count {
            #expect(throws: MCUbootError.self, "\(length) bytes") {
                try MCUbootImage(Array(whole[..<length]))
            }
        }
        #expect(throws: MCUbootError(.trailingBytes, at: whole.count)) {
            try MCUbootImage(whole + [0])
        }
    }
}
