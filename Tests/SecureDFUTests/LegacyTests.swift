import Base
import Families
import Moments
import Radio
import Testing

/// Legacy DFU: its bytes, transcripts, and the upload to a simulated bootloader.
@Suite struct LegacyTests {
    private static let firmware = (0..<1_024).map { UInt8(truncatingIfNeeded: $0) }

    /// The init packet that the vendor's tool makes for these bytes.
    private static let packet: [UInt8] = [
        0x52, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00, 0xB6, 0x00, 0x8F, 0x75,
    ]

    @Test func `checksums are those of the two protocols`() {
        #expect(CRC16.of("123456789".utf8, from: 0xFFFF) == 0x29B1)
        #expect(CRC16.of("123456789".utf8, from: 0) == 0x31C3)
        #expect(LegacyInitPacket.checksum(of: Self.firmware) == 0x758F)
    }

    @Test func `an init packet is read and written as the maker's tool makes it`() throws {
        let packet = try LegacyInitPacket(Self.packet)
        #expect(packet.deviceType == 0x0052)
        #expect(packet.revision == LegacyInitPacket.any)
        #expect(packet.version == nil)
        #expect(packet.softDevices == [0xB6])
        #expect(packet.proof == .crc(0x758F))
        #expect(packet.bytes == Self.packet)
        for count in 0..<Self.packet.count {
            #expect(throws: LegacyInitPacketError.self) {
                try LegacyInitPacket(Array(Self.packet[..<count]))
            }
        }
        let longer = LegacyInitPacket(
            deviceType: 0x52,
            version: 41_200,
            proof: .crc(1)
        )
        #expect(try LegacyInitPacket(longer.bytes) == longer)
        #expect(throws: LegacyInitPacketError.secure) {
            try LegacyInitPacket([0x12] + [UInt8](repeating: 1, count: 60))
        }
    }

    @Test func `requests and answers are those of the bootloaders`() throws {
        #expect(LegacyRequest.start(.application).bytes == [1, 4])
        #expect(LegacyRequest.receipts(every: 10).bytes == [8, 10, 0])
        let sizes = LegacySizes(application: 1_024)
        #expect(sizes.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0])
        #expect(LegacySizes(sizes.bytes) == sizes)
        #expect(try LegacyAnswer([0x11, 0xC8, 0, 0, 0]) == .receipt(200))
        #expect(try LegacyAnswer([0x10, 3, 1]) == .result(.receive, .success))
        #expect(try LegacyAnswer([0x10, 7, 1, 4, 0, 0, 0]) == .size(4))
        let requests: [LegacyRequest] = [
            .start([.softDevice, .bootloader]), .beginInit, .endInit, .receive, .validate,
            .activate, .reset, .reportSize, .receipts(every: 300),
        ]
        for request in requests { #expect(LegacyRequest(request.bytes) == request) }
        for bytes in [[], [0x10], [0x10, 9, 1], [0x10, 3, 7], [0x11, 1]] as [[UInt8]] {
            #expect(throws: LegacyAnswerError.self) { try LegacyAnswer(bytes) }
        }
    }

    // MARK: Uploads to the bootloader

    /// Connects the machine and the bootloader until the end; `drop` loses a packet.
    private func play(
        _ machine: inout LegacyUpload,
        _ target: inout LegacyDFUTarget,
        drop: (Int) -> Bool = { _ in false },
        log: inout [String]
    ) -> LegacyUpload.Ending {
        target.notificationsSwitched(on: true)
        var answers: [[UInt8]] = []
        var now = Moment(nanoseconds: 0)
        var packets = 0
        func hear(_ actions: [LegacyDFUTarget.Action]) {
            for case .notify(let bytes) in actions { answers.append(bytes) }
        }
        var action = machine.begin(at: now)
        while true {
            switch action {
            case .write(let request):
                log.append("\(request)")
                hear(target.controlPointWritten(request.bytes) ?? [])
                action = machine.written(at: now)
            case .send(let load, let range):
                let bytes =
                    switch load {
                    case .sizes: LegacySizes(application: 1_024).bytes
                    case .initPacket: Self.packet
                    case .image: Self.firmware
                    }
                var start = range.lowerBound
                while start < range.upperBound {
                    let end = min(start + 20, range.upperBound)
                    if load == .image { packets += 1 }
                    if load != .image || !drop(packets) {
                        hear(target.packetWritten(Array(bytes[start..<end])))
                    }
                    start = end
                }
                action = machine.packetsSent(at: now)
            case .wait:
                if answers.isEmpty {
                    now = machine.deadline ?? now
                    action = machine.timeout(at: now)
                } else {
                    action = machine.notified(answers.removeFirst(), at: now)
                }
            case .ended(let ending): return ending
            }
        }
    }

    @Test func `an image goes over in packets of twenty, and is started`() {
        var machine = LegacyUpload(.application, initLength: 14, total: 1_024)
        var target = LegacyDFUTarget()
        var log: [String] = []
        let ending = play(&machine, &target, log: &log)
        #expect(ending == .finished)
        #expect(machine.acknowledged == 1_024)
        #expect(
            log == [
                "start(Families.LegacyImageType(rawValue: 4))", "beginInit", "endInit",
                "receipts(every: 10)", "receive", "validate", "activate",
            ]
        )
        #expect(target.received == 1_024)
    }

    @Test(arguments: [1, 10, 11, 50, 52])
    func `a packet that is lost ends the attempt, and the bootloader is cleared`(number: Int) {
        var machine = LegacyUpload(.application, initLength: 14, total: 1_024)
        var target = LegacyDFUTarget()
        var log: [String] = []
        let ending = play(&machine, &target, drop: { $0 == number }, log: &log)
        guard case .failed(let error) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(error.failureClass == .transient)
        #expect(error.isTooFast)
        #expect(log.last == "reset")
    }

    @Test func `an attempt of before is cleared and not gone on with`() {
        var target = LegacyDFUTarget()
        target.notificationsSwitched(on: true)
        _ = target.controlPointWritten(LegacyRequest.start(.application).bytes)
        _ = target.packetWritten(LegacySizes(application: 8).bytes)
        var machine = LegacyUpload(.application, initLength: 14, total: 1_024)
        var log: [String] = []
        let ending = play(&machine, &target, log: &log)
        #expect(ending == .failed(.earlierAttempt))
        #expect(log.last == "reset")
    }

    @Test func `a bootloader that counts over attempts is understood`() {
        var machine = LegacyUpload(.application, initLength: 14, total: 1_024)
        let now = Moment(nanoseconds: 0)
        _ = machine.begin(at: now)
        _ = machine.written(at: now)
        _ = machine.packetsSent(at: now)
        _ = machine.notified([0x10, 1, 1], at: now)
        _ = machine.written(at: now)
        _ = machine.packetsSent(at: now)
        _ = machine.written(at: now)
        _ = machine.notified([0x10, 2, 1], at: now)
        _ = machine.written(at: now)
        #expect(machine.written(at: now) == .send(.image, 0..<200))
        #expect(machine.packetsSent(at: now) == .wait)
        // The bootloader had counted 1000 bytes before this attempt.
        #expect(
            machine.notified(LegacyAnswer.receipt(1_200).bytes, at: now)
                == .send(.image, 200..<400)
        )
        #expect(machine.packetsSent(at: now) == .wait)
        #expect(
            machine.notified(LegacyAnswer.receipt(1_380).bytes, at: now) == .write(.reset)
        )
    }

    @Test func `an image for another device is refused`() {
        var rules = LegacyDFUTarget.Rules()
        rules.deviceType = 0x53
        var target = LegacyDFUTarget(rules: rules)
        var machine = LegacyUpload(.application, initLength: 14, total: 1_024)
        var log: [String] = []
        let ending = play(&machine, &target, log: &log)
        #expect(ending == .failed(.refused(.initPacket, .failed)))
        guard case .failed(let error) = ending else { return }
        #expect(error.failureClass == .rejected)
    }

    @Test func `an upload waits as long as its times say, whichever protocol it is`() throws {
        let times = UploadTimes(answer: .seconds(20), erase: .seconds(200), check: .seconds(90))
        let legacy = LegacyUpload.Settings(pace: 1, times: times)
        #expect(legacy.answerLimit == .seconds(20) && legacy.eraseLimit == .seconds(200))
        #expect(legacy.checkLimit == .seconds(90) && legacy.receiptInterval == 6)
        let secure = try #require(UploadSettings(maximumLength: 100, pace: 2, times: times))
        #expect(secure.answerLimit == .seconds(20) && secure.executeLimit == .seconds(90))
        let usual = try #require(UploadSettings(maximumLength: 100, pace: 2))
        #expect(usual.answerLimit == .seconds(10) && usual.executeLimit == .seconds(30))
        let now = Moment(nanoseconds: 0)
        var device = ESPUpload(total: 4_096, wanted: nil, times: times)
        _ = device.begin(at: now)
        #expect(device.deadline == now.advanced(by: .seconds(200)))
        // The only sector is also the last one, whose answer confirms the whole image.
        _ = device.commanded(
            ESPCommand.acknowledge(command: 1, isAccepted: true, window: 0).bytes,
            at: now
        )
        _ = device.sent(at: now)
        #expect(device.deadline == now.advanced(by: .seconds(90)))
    }
}
