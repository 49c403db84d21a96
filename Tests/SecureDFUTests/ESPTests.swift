import Base
import Families
import Moments
import Radio
import Testing

/// ESP's BLE OTA: its bytes, and the upload to simulated devices.
@Suite struct ESPTests {
    private func hex(_ text: String) -> [UInt8] { Hex.bytes(text.filter { $0 != " " }) ?? [] }

    @Test func `commands are those of the reference clients`() throws {
        let start = hex("01 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 C6 36")
        #expect(ESPCommand.start(length: 1_048_576).bytes == start)
        #expect(ESPCommand.start(length: 5_000).bytes.suffix(2) == [0x6A, 0x44])
        #expect(ESPCommand.stop.bytes.suffix(2) == [0x43, 0xF0])
        let accepted = ESPCommand.acknowledge(command: 1, isAccepted: true, window: 0)
        #expect(accepted.bytes.suffix(2) == [0x56, 0xA8])
        let window = ESPCommand.acknowledge(command: 1, isAccepted: true, window: 3)
        #expect(window.bytes.suffix(2) == [0xC9, 0xAD])
        let rejected = ESPCommand.acknowledge(command: 1, isAccepted: false, window: 0)
        #expect(rejected.bytes.suffix(2) == [0x37, 0xD3])
        for command in [ESPCommand.start(length: 5_000), .stop, accepted, window, rejected] {
            #expect(try ESPCommand(command.bytes) == command)
        }
        var damaged = start
        damaged[2] ^= 1
        #expect(throws: ESPFrameError.checksum) { try ESPCommand(damaged) }
    }

    @Test func `acknowledgements of sectors are those of the servers`() throws {
        let cases: [(ESPSectorAck, [UInt8])] = [
            (ESPSectorAck(sector: 0, status: .accepted, wanted: 1), [0x61, 0x7B]),
            (ESPSectorAck(sector: 0, status: .accepted, wanted: 0), [0, 0]),
            (ESPSectorAck(sector: 5, status: .sector, wanted: 3), [0x5C, 0xCD]),
            (ESPSectorAck(sector: 0xFFFE, status: .sector, wanted: 7), [0xF5, 0x85]),
        ]
        for (ack, checksum) in cases {
            #expect(Array(ack.bytes.suffix(2)) == checksum)
            #expect(try ESPSectorAck(ack.bytes) == ack)
        }
    }

    @Test(arguments: [
        (20, 242), (182, 23), (244, 18), (495, 9), (497, 9), (514, 9),
    ])
    func `a sector is cut so that its checksum is never torn`(
        maximumLength: Int,
        count: Int
    ) throws {
        let image = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
        let packets = ESPPackets.packets(
            sector: 0,
            image[..<4_096],
            maximumLength: maximumLength
        )
        #expect(packets.count == count)
        #expect(packets.allSatisfy { $0.count <= maximumLength })
        #expect(packets.last?.suffix(2) == [0xB6, 0xE0])
        let sent: [UInt8] = packets.flatMap { $0.dropFirst(3) }
        #expect(sent.dropLast(2) == image[..<4_096])
        let rest = ESPPackets.packets(
            sector: 1,
            image[4_096...],
            maximumLength: maximumLength
        )
        #expect(rest.last?.suffix(2) == [0xBD, 0x65])
        for packet in packets + rest where packet[2] == 0xFF {
            #expect(packet.count >= 6)
        }
    }

    @Test func `every length of a sector is put together again`() {
        for length in [20, 21, 23, 100, 244] {
            for count in 1...700 {
                let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                let packets = ESPPackets.packets(sector: 3, data[...], maximumLength: length)
                let sent: [UInt8] = packets.flatMap { $0.dropFirst(3) }
                #expect(sent.dropLast(2) == data[...])
                #expect(packets.allSatisfy { $0.count <= length })
            }
        }
    }

    // MARK: The image

    /// An image built from the description of the format, byte for byte.
    static func image(version: String = "2.7.31", chip: UInt8 = 9) -> [UInt8] {
        var bytes: [UInt8] = [0xE9, 1, 2, 0x2F, 0, 0x40, 0x37, 0x40, 0xEE, 0, 0, 0, chip, 0, 0, 0]
        bytes += [0, 0x63, 0, 0, 0, 0, 0, 1]
        bytes += UInt32(0x3C00_0020).littleBytes + UInt32(320).littleBytes
        func text(_ text: String, _ length: Int) -> [UInt8] {
            Array(text.utf8) + [UInt8](repeating: 0, count: length - text.utf8.count)
        }
        var body = UInt32(0xABCD_5432).littleBytes + UInt32(7).littleBytes
        body += [UInt8](repeating: 0, count: 8) + text(version, 32) + text("yardmaster-demo", 32)
        body += text("12:34:56", 16) + text("Jan  2 2026", 16) + text("v5.3.1", 32)
        body += (0..<32).map { UInt8($0) }
        body += [UInt8](repeating: 0, count: 256 - body.count) + (0..<64).map { UInt8($0) }
        bytes += body + [UInt8](repeating: 0, count: 15)
        return bytes + [body.reduce(0xEF) { $0 ^ $1 }]
    }

    @Test func `an image tells its version, chip and project`() throws {
        var bytes = Self.image()
        #expect(bytes.last == 0xC4)
        bytes += hex("8b092d9fbf87a9f7ef478a41e4ad55d4b4f18fa8c328fa6498d4b9e0944ec075")
        let image = try ESPImage(bytes)
        #expect(image.version == "2.7.31")
        #expect(image.project == "yardmaster-demo")
        #expect(image.secureVersion == 7)
        #expect(ESPImage.name(ofChip: image.chip) == "esp32s3")
        #expect(image.length == 368)
        for cut in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: ESPImageError.self) { try ESPImage(Array(bytes[..<cut])) }
        }
        var damaged = bytes
        damaged[350] ^= 1
        #expect(throws: ESPImageError.checksum) { try ESPImage(damaged) }
        var bootloader = bytes
        bootloader[32] ^= 1
        #expect(throws: ESPImageError.notAnApplication) { try ESPImage(bootloader) }
    }

    // MARK: Uploads to devices

    private func play(
        _ machine: inout ESPUpload,
        _ target: inout ESPTarget,
        _ image: [UInt8],
        lose: (Int) -> Bool = { _ in false }
    ) -> ESPUpload.Ending {
        var now = Moment(nanoseconds: 0)
        var acks: [[UInt8]] = []
        var answers: [[UInt8]] = []
        var packets = 0
        var isRefused = false
        func hear(_ actions: [ESPTarget.Action]) {
            for action in actions {
                switch action {
                case .acknowledge(let bytes): acks.append(bytes)
                case .answer(let bytes): answers.append(bytes)
                case .refuse: isRefused = true
                case .erase, .complete: continue
                }
            }
        }
        var action = machine.begin(at: now)
        while true {
            switch action {
            case .command(let command):
                hear(target.commanded(command.bytes))
                action = .wait
            case .send(let sector):
                let start = sector * 4_096
                let data = image[start..<min(start + 4_096, image.count)]
                let all = ESPPackets.packets(
                    sector: UInt16(sector),
                    data,
                    maximumLength: 244
                )
                isRefused = false
                for packet in all where !isRefused {
                    packets += 1
                    if !lose(packets) { hear(target.packetWritten(packet)) }
                }
                action =
                    isRefused
                    ? machine.linkFailed(.refused(code: 0x0E), at: now) : machine.sent(at: now)
                if isRefused { acks = [] }
            case .clear(let sector):
                hear(target.packetWritten([UInt8(sector), 0, 0xFF, 0x5A, 0xA5]))
                action = machine.sent(at: now)
            case .wait:
                if case .starting = machine.state, !answers.isEmpty {
                    action = machine.commanded(answers.removeFirst(), at: now)
                } else if !acks.isEmpty {
                    action = machine.acknowledged(acks.removeFirst(), at: now)
                } else {
                    now = machine.deadline ?? now
                    action = machine.timeout(at: now)
                }
            case .ended(let ending): return ending
            }
        }
    }

    private static let firmware = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test(arguments: ESPTarget.Server.allCases)
    func `an image goes over sector by sector`(server: ESPTarget.Server) {
        var machine = ESPUpload(total: 10_000, wanted: nil)
        var target = ESPTarget(server: server)
        #expect(play(&machine, &target, Self.firmware) == .finished)
        #expect(machine.acknowledged == 10_000)
        #expect(target.image == Self.firmware)
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `a packet that is lost costs its sector once more`(server: ESPTarget.Server) {
        // With a server that checks no checksum, the packet before the last one of a sector must
        // not be lost: such servers acknowledge packets one by one.
        for number in [1, 5, 18, 20, 36, 40] + (server == .raw ? [17, 35] : []) {
            var machine = ESPUpload(total: 10_000, wanted: nil)
            var target = ESPTarget(server: server)
            let ending = play(&machine, &target, Self.firmware) { $0 == number }
            #expect(ending == .finished, "packet \(number)")
            #expect(target.image == Self.firmware, "packet \(number)")
        }
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `an image is gone on with where the device is`(server: ESPTarget.Server) {
        var target = ESPTarget(server: server)
        var first = ESPUpload(total: 10_000, wanted: nil)
        var sent = 0
        _ = play(&first, &target, Self.firmware) { _ in
            sent += 1
            return sent > 20
        }
        #expect(target.image.count == 4_096)
        var second = ESPUpload(total: 10_000, wanted: 1)
        #expect(play(&second, &target, Self.firmware) == .finished)
        #expect(second.resumedFrom == 4_096)
        #expect(target.image == Self.firmware)
    }

    @Test func `a device that waits for another image is told of`() {
        var target = ESPTarget(server: .raw)
        var other = ESPUpload(total: 40_000, wanted: nil)
        let bytes = [UInt8](repeating: 1, count: 40_000)
        var sent = 0
        _ = play(&other, &target, bytes) { _ in
            sent += 1
            return sent > 80
        }
        var machine = ESPUpload(total: 10_000, wanted: nil)
        guard case .failed(let error) = play(&machine, &target, Self.firmware) else {
            Issue.record("it was taken")
            return
        }
        #expect(error == .refused)
    }

    /// An upload that has begun to send the first of ten sectors.
    private func begun() -> ESPUpload {
        let now = Moment(nanoseconds: 0)
        var machine = ESPUpload(total: 40_000, wanted: nil)
        _ = machine.begin(at: now)
        let accepted = ESPCommand.acknowledge(command: 1, isAccepted: true, window: 0)
        #expect(machine.commanded(accepted.bytes, at: now) == .send(sector: 0))
        return machine
    }

    @Test func `a device that wants a sector of another image is left alone`() {
        var machine = begun()
        let ack = ESPSectorAck(sector: 0, status: .sector, wanted: 5)
        #expect(
            machine.acknowledged(ack.bytes, at: Moment(nanoseconds: 0))
                == .ended(.failed(.foreign(wanted: 5)))
        )
    }

    @Test func `a sector whose checksum is wrong is sent again, three times and no more`() {
        let now = Moment(nanoseconds: 0)
        var machine = begun()
        let ack = ESPSectorAck(sector: 0, status: .checksum, wanted: 0)
        for _ in 0..<3 {
            #expect(machine.acknowledged(ack.bytes, at: now) == .send(sector: 0))
        }
        #expect(machine.acknowledged == 0)
        #expect(machine.acknowledged(ack.bytes, at: now) == .ended(.failed(.sector(0))))
    }
}
