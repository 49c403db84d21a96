import Base
import Families
import Testing

/// Secure DFU, according to the published layouts.
@Suite struct UpdateCodecTests {
    @Test(arguments: [
        (DFURequest.create(.data, size: 4_096), "010200100000"),
        (.create(.command, size: 145), "010191000000"),
        (.setReceiptInterval(12), "020c00"),
        (.checksum, "03"), (.execute, "04"), (.select(.command), "0601"), (.abort, "0c"),
        (.protocolVersion, "00"),
    ])
    func `a control point request is spelled in one way`(request: DFURequest, hex: String) throws {
        #expect(Hex.text(request.bytes) == hex)
        #expect(try DFURequest(try #require(Hex.bytes(hex))) == request)
    }

    @Test(arguments: [
        ("", DFURequestError.empty), ("05", .unknownOperation(5)),
        ("0603", .unknownObjectType(3)), ("0102", .wrongLength(operation: 1, length: 2)),
        ("0300", .wrongLength(operation: 3, length: 2)),
    ])
    func `what is no request is refused`(hex: String, error: DFURequestError) throws {
        let bytes = try #require(Hex.bytes(hex))
        #expect(throws: error) { try DFURequest(bytes) }
    }

    @Test(arguments: [
        ("600101", DFUResponse.done(.create)),
        ("6003010010000078563412", .checksum(offset: 4_096, crc: 0x1234_5678)),
        (
            "6006010010000000020000aabbccdd",
            .selected(maximumSize: 4_096, offset: 512, crc: 0xDDCC_BBAA)
        ),
        ("600408", .failed(operation: 4, .result(.notPermitted))),
        ("60040b0c", .failed(operation: 4, .extended(.verificationFailed))),
        ("600177", .failed(operation: 1, .unknown(0x77, extended: nil))),
    ])
    func `a control point response is spelled in one way`(hex: String, response: DFUResponse) throws
    {
        let bytes = try #require(Hex.bytes(hex))
        #expect(try DFUResponse(bytes) == response)
        #expect(response.bytes == bytes)
    }

    @Test(arguments: [
        ("", DFUResponseError.short(0)), ("6001", .short(2)), ("610101", .notAResponse(0x61)),
        ("609901", .unknownOperation(0x99)), ("60030100", .wrongLength(operation: 3, length: 4)),
    ])
    func `what is no response is refused`(hex: String, error: DFUResponseError) throws {
        let bytes = try #require(Hex.bytes(hex))
        #expect(throws: error) { try DFUResponse(bytes) }
    }

    @Test func `every result and extended code has a number and a sentence of its own`() {
        let results = DFUResult.allCases.map { DFUFault.result($0).description }
        let extended = DFUExtendedError.allCases.map { DFUFault.extended($0).description }
        #expect(Set(results + extended).count == results.count + extended.count)
        #expect(DFUResult.allCases.map(\.rawValue) == [0, 2, 3, 4, 5, 6, 7, 8, 10])
    }

    @Test(arguments: [(20, 20), (23, 20), (182, 180), (244, 244), (495, 492)])
    func `a packet is a multiple of four`(length: Int, packet: Int) {
        #expect(DFUNumbers.packetLength(maximumLength: length) == packet)
    }

    @Test func `a bootloader's name leads back to its module and to nobody else's`() throws {
        let serial = try #require(Serial("00a0000000000001"))
        let name = try #require(BootloaderName(of: serial))
        #expect(name.text == "YM00a0000000000001")
        #expect(BootloaderName.serial(in: name.text) == serial)
        for other in ["DfuTarg", "YM", "YMx", "YM00a000000000000", "ym00a0000000000001"] {
            #expect(BootloaderName.serial(in: other) == nil, "\(other)")
        }
        #expect(
            ButtonlessRequest.setName(name).bytes == [0x02, 18] + Array(name.text.utf8)
        )
        #expect(ButtonlessRequest.enterBootloader.bytes == [0x01])
        #expect(ButtonlessResponse([0x20, 0x01, 0x06])?.result == .busy)
        #expect(ButtonlessResponse([0x20, 0x01, 0x03]) == nil)
    }

    @Test(arguments: [("4.12.0", 41_200), ("2.7.31", 20_731)] as [(String, UInt32)])
    func `a version is packed as the packaging tool does it`(text: String, packed: UInt32) throws {
        let version = try #require(FirmwareVersion(text))
        #expect(version.packed == packed)
        #expect(FirmwareVersion(packed: packed) == version)
    }

    @Test func `an init packet is read back as written`() throws {
        let digest = try #require(SHA256Digest(bytes: (0..<32).map { UInt8($0) }))
        var packet = InitPacket(
            type: .application,
            applicationSize: 98_304,
            digest: digest,
            firmwareVersion: 41_200,
            hardwareVersion: 52,
            requiredSoftDevices: [0x100, 0x101]
        )
        packet.signature = .ed25519([UInt8](repeating: 7, count: 64))
        let again = try InitPacket(packet.serialized)
        #expect(again.serialized == packet.serialized)
        #expect(again.signature == packet.signature)
        #expect(again.requiredSoftDevices == [0x100, 0x101])
        #expect(again.firmwareSize == 98_304)
        #expect(!again.signedBytes.isEmpty)
    }

    @Test func `a packet with two commands or a field twice is refused`() throws {
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let plain = InitPacket(type: .application, applicationSize: 4, digest: digest)
        var signed = plain
        signed.signature = .ecdsaP256([UInt8](repeating: 7, count: 64))
        #expect(throws: InitPacketError.twoCommands) {
            try InitPacket(plain.serialized + signed.serialized)
        }
        #expect(throws: InitPacketError.repeated(1)) {
            try InitPacket(plain.serialized + plain.serialized)
        }
    }

    @Test func `random and mutated bytes are read or refused`() throws {
        var random = SplitMix64(seed: 99)
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let packet = InitPacket(
            type: .application,
            applicationSize: 4,
            digest: digest,
            firmwareVersion: 1
        ).serialized
        for _ in 0..<100_000 {
            var bytes = packet
            if random.chance(0.5) {
                bytes = (0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            } else {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            if let read = try? InitPacket(bytes) { _ = read.firmwareSize }
            if let request = try? DFURequest(bytes) { #expect(request.bytes == bytes) }
            _ = try? DFUResponse(bytes)
        }
    }
}
