import Base
import Families
import Moments
import Radio
import Testing

private let initPacket = [UInt8](0..<40)
private let image = (0..<6_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
private let initCRC = CRC32.of(initPacket)

private func crc(_ count: Int) -> UInt32 { CRC32.of(image.prefix(count)) }

private func machine(_ settings: UploadSettings? = nil) throws -> SecureDFUUpload {
    let standard = try #require(UploadSettings(maximumLength: 200, receiptInterval: 4))
    return SecureDFUUpload(
        FirmwarePart(initPacket: initPacket, firmware: image),
        settings: settings ?? standard
    )
}

extension SecureDFUUpload {
    fileprivate mutating func answer(_ response: DFUResponse, at now: Moment = at(1)) -> Action {
        self.response(response.bytes, at: now)
    }
}

private func selected(_ offset: Int, _ crc: UInt32, of maximum: UInt32 = 4_096) -> DFUResponse {
    .selected(maximumSize: maximum, offset: UInt32(offset), crc: crc)
}

private func checksum(_ offset: Int, _ crc: UInt32) -> DFUResponse {
    .checksum(offset: UInt32(offset), crc: crc)
}

/// A machine that has asked for the target's state of the image.
private func selectingData(_ settings: UploadSettings? = nil) throws -> SecureDFUUpload {
    var machine = try machine(settings)
    _ = machine.begin(at: at(0))
    _ = machine.answer(selected(40, initCRC))
    _ = machine.answer(.done(.execute))
    _ = machine.answer(.done(.setReceiptInterval))
    return machine
}

/// A machine whose first 8 packets of 200 bytes are in the radio's queue.
private func sending() throws -> SecureDFUUpload {
    var machine = try selectingData()
    _ = machine.answer(selected(0, 0))
    _ = machine.answer(.done(.create))
    _ = machine.pauseOver(at: at(2))
    return machine
}

/// A machine that waits for a receipt, with a full window.
private func waiting() throws -> SecureDFUUpload {
    var machine = try sending()
    _ = machine.packetsSent(at: at(2))
    return machine
}

/// A machine that executes the last object.
private func executingLast() throws -> SecureDFUUpload {
    var machine = try selectingData()
    _ = machine.answer(selected(6_000, crc(6_000)))
    return machine
}

private func failed(_ error: UploadError) -> SecureDFUUpload.Action { .ended(.failed(error)) }

@Suite struct UploadTranscriptTests {
    @Test func `an upload from nothing`() throws {
        var machine = try machine()
        #expect(machine.begin(at: at(0)) == .write(.select(.command)))
        #expect(machine.answer(selected(0, 0)) == .write(.setReceiptInterval(0)))
        #expect(machine.answer(.done(.setReceiptInterval)) == .write(.create(.command, size: 40)))
        #expect(machine.answer(.done(.create)) == .send(0..<40, of: .initPacket))
        #expect(machine.packetsSent(at: at(1)) == .write(.checksum))
        #expect(machine.answer(checksum(40, initCRC)) == .write(.execute))
        #expect(machine.answer(.done(.execute)) == .write(.setReceiptInterval(4)))
        #expect(machine.answer(.done(.setReceiptInterval)) == .write(.select(.data)))
        #expect(machine.answer(selected(0, 0)) == .write(.create(.data, size: 4_096)))
        // Only the first object of a link has a pause.
        #expect(machine.answer(.done(.create)) == .pause(until: at(1.4)))
        #expect(machine.pauseOver(at: at(1.4)) == .send(0..<1_600, of: .image))
        #expect(machine.packetsSent(at: at(2)) == .wait)
        #expect(machine.answer(checksum(800, crc(800))) == .send(1_600..<2_400, of: .image))
        #expect(machine.acknowledged == 800)
        #expect(machine.packetsSent(at: at(2)) == .wait)
        #expect(machine.answer(checksum(2_400, crc(2_400))) == .send(2_400..<4_000, of: .image))
        #expect(machine.packetsSent(at: at(2)) == .wait)
        #expect(machine.answer(checksum(3_200, crc(3_200))) == .send(4_000..<4_096, of: .image))
        #expect(machine.packetsSent(at: at(2)) == .write(.checksum))
        // First a receipt, which has the form of an answer, and then the answer.
        #expect(machine.answer(checksum(4_000, crc(4_000))) == .wait)
        #expect(machine.answer(checksum(4_096, crc(4_096))) == .write(.execute))
        #expect(machine.answer(.done(.execute)) == .write(.create(.data, size: 1_904)))
        #expect(machine.answer(.done(.create)) == .send(4_096..<5_696, of: .image))
        #expect(machine.packetsSent(at: at(2)) == .wait)
        #expect(machine.answer(checksum(4_896, crc(4_896))) == .send(5_696..<6_000, of: .image))
        #expect(machine.packetsSent(at: at(2)) == .write(.checksum))
        #expect(machine.answer(checksum(6_000, crc(6_000))) == .write(.execute))
        #expect(machine.answer(.done(.execute)) == .ended(.finished))
        #expect(machine.sent == 6_000)
        #expect(machine.deadline == nil)
    }

    @Test(
        arguments: [
            (0, 0, .create(.data, size: 4_096)),
            (4_096, 1, .create(.data, size: 4_096)), (5_000, 1, .create(.data, size: 1_904)),
            (6_000, 1, .create(.data, size: 1_904)), (6_001, 1, .setReceiptInterval(0)),
            (Int(UInt32.max), 1, .setReceiptInterval(0)),
        ] as [(Int, UInt32, DFURequest)]
    )
    func `what does not fit is created again from its object on`(
        offset: Int,
        crc: UInt32,
        request: DFURequest
    ) throws {
        var machine = try selectingData()
        #expect(machine.answer(selected(offset, crc)) == .write(request))
    }

    @Test func `an object that is complete is executed, and 08 means it had been`() throws {
        var machine = try selectingData()
        #expect(machine.answer(selected(4_096, crc(4_096))) == .write(.execute))
        #expect(machine.resumedFrom == 4_096)
        let refusal = DFUResponse.failed(operation: 4, .result(.notPermitted))
        #expect(machine.answer(refusal) == .write(.create(.data, size: 1_904)))
        machine = try executingLast()
        #expect(machine.answer(refusal) == .ended(.finished))
    }

    @Test func `an object that is half there gets the other half without being created`() throws {
        var machine = try selectingData()
        #expect(machine.answer(selected(5_000, crc(5_000))) == .send(5_000..<6_000, of: .image))
        #expect(machine.acknowledged == 5_000)
        #expect(machine.packetsSent(at: at(2)) == .write(.checksum))
        #expect(machine.answer(checksum(6_000, crc(6_000))) == .write(.execute))
        #expect(machine.sent == 1_000)
    }

    @Test func `an init packet that was accepted and is not taken twice is fine`() throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        #expect(machine.answer(selected(40, initCRC)) == .write(.execute))
        let refusal = DFUResponse.failed(operation: 4, .result(.notPermitted))
        #expect(machine.answer(refusal) == .write(.setReceiptInterval(4)))
    }

    @Test(arguments: [(40, 1), (41, 1), (20, 1), (Int(UInt32.max), 1)] as [(Int, UInt32)])
    func `another init packet is replaced`(offset: Int, crc: UInt32) throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        #expect(machine.answer(selected(offset, crc)) == .write(.setReceiptInterval(0)))
        let request = DFURequest.create(.command, size: 40)
        #expect(machine.answer(.done(.setReceiptInterval)) == .write(request))
    }

    @Test func `an init packet that is longer than the target takes is rejected`() throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        let error = UploadError.initPacketTooLong(length: 40, maximum: 39)
        #expect(machine.answer(selected(0, 0, of: 39)) == failed(error))
        #expect(error.failureClass == .rejected)
    }

    @Test func `an init packet that arrives corrupted is sent four times, not more`() throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        _ = machine.answer(selected(0, 0))
        var action = machine.answer(.done(.setReceiptInterval))
        for _ in 0...3 {
            #expect(action == .write(.create(.command, size: 40)))
            _ = machine.answer(.done(.create))
            _ = machine.packetsSent(at: at(1))
            #expect(machine.answer(checksum(40, 1)) == .write(.checksum))
            action = machine.answer(checksum(40, 1))
        }
        #expect(action == failed(.corrupted(of: .initPacket, offset: 0)))
    }

    @Test func `an object that arrives corrupted is sent four times, not more`() throws {
        var machine = try sending()
        for _ in 0..<3 {
            _ = machine.packetsSent(at: at(2))
            let create = DFURequest.create(.data, size: 4_096)
            #expect(machine.answer(checksum(800, 1)) == .write(create))
            #expect(machine.acknowledged == 0)
            #expect(machine.answer(.done(.create)) == .send(0..<1_600, of: .image))
        }
        _ = machine.packetsSent(at: at(2))
        #expect(machine.answer(checksum(800, 1)) == failed(.corrupted(of: .image, offset: 0)))
    }

    @Test func `a receipt beyond what was sent is wrong however right its checksum`() throws {
        var machine = try waiting()
        let create = DFURequest.create(.data, size: 4_096)
        #expect(machine.answer(checksum(1_601, crc(1_601))) == .write(create))
        machine = try waiting()
        #expect(machine.answer(checksum(Int(UInt32.max), 0)) == .write(create))
    }

    @Test func `a target that claims too much even after a new start is given up`() throws {
        var machine = try selectingData()
        _ = machine.answer(selected(9_000, 1))
        _ = machine.answer(.done(.setReceiptInterval))
        _ = machine.answer(.done(.create))
        _ = machine.packetsSent(at: at(1))
        _ = machine.answer(checksum(40, initCRC))
        _ = machine.answer(.done(.execute))
        _ = machine.answer(.done(.setReceiptInterval))
        #expect(machine.answer(selected(9_000, 1)) == failed(.beyondImage(offset: 9_000)))
    }

    @Test func `a target that takes no bytes is given up`() throws {
        var machine = try selectingData()
        #expect(machine.answer(selected(0, 0, of: 0)) == failed(.noObjectSize))
    }

    @Test func `receipts that are late or come twice change nothing`() throws {
        var machine = try waiting()
        #expect(machine.answer(checksum(0, 0)) == .wait)
        _ = machine.answer(checksum(800, crc(800)))
        let state = machine.state
        #expect(machine.answer(checksum(800, crc(800))) == .wait)
        #expect(machine.answer(checksum(400, crc(400))) == .wait)
        #expect(machine.state == state)
    }

    @Test func `answers to earlier requests are passed over in every state`() throws {
        for var machine in [try selectingData(), try sending(), try waiting(), try executingLast()]
        {
            let state = machine.state
            for response in [
                DFUResponse.done(.setReceiptInterval), .done(.protocolVersion), .done(.abort),
                .failed(operation: 2, .result(.failed)), .failed(operation: 0x0C, .result(.failed)),
            ] {
                #expect(machine.answer(response) == .wait)
            }
            #expect(machine.state == state)
        }
    }

    @Test(
        arguments: [
            [], [0x60], [0x60, 3], [0x20, 1, 1], [0x60, 0x55, 1], [0x60, 3, 1], [0x60, 6, 1, 0],
            [0x60, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]]
    )
    func `garbage ends it with an error of the module`(bytes: [UInt8]) throws {
        for var machine in [try selectingData(), try waiting(), try executingLast()] {
            #expect(machine.response(bytes, at: at(2)) == failed(.malformed(bytes)))
        }
        #expect(UploadError.malformed(bytes).failureClass == .device)
    }

    @Test(arguments: [
        (DFUFault.extended(.firmwareVersion), FailureClass.rejected),
        (.extended(.hardwareVersion), .rejected), (.extended(.softDeviceVersion), .rejected),
        (.extended(.insufficientSpace), .rejected), (.extended(.signatureMissing), .integrity),
        (.extended(.hashFailed), .integrity), (.extended(.wrongFormat), .integrity),
        (.extended(.verificationFailed), .integrity), (.result(.invalidObject), .integrity),
        (.result(.signatureMismatch), .integrity), (.extended(.unknownCommand), .device),
        (.result(.failed), .device), (.unknown(0x77, extended: nil), .device),
    ])
    func `an init packet that is refused has its class`(
        fault: DFUFault,
        failure: FailureClass
    ) throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        _ = machine.answer(selected(40, initCRC))
        let error = UploadError.refused(.execute, of: .initPacket, fault)
        #expect(machine.answer(.failed(operation: 4, fault)) == failed(error))
        #expect(error.failureClass == failure)
        #expect(error.description.contains("the init packet"))
    }

    @Test func `an image that does not verify is an error of integrity`() throws {
        var machine = try executingLast()
        let error = UploadError.refused(.execute, of: .image, .extended(.verificationFailed))
        let response = DFUResponse.failed(operation: 4, .extended(.verificationFailed))
        #expect(machine.answer(response) == failed(error))
        #expect(error.failureClass == .integrity)
    }

    @Test func `a link lost at the last execution may be the restart`() throws {
        var machine = try executingLast()
        #expect(machine.linkFailed(.lost, at: at(2)) == .ended(.finishedOrLost))
        machine = try executingLast()
        let refused = LinkFailure.refused(code: 0xFD)
        #expect(machine.linkFailed(refused, at: at(2)) == failed(.link(refused)))
    }

    @Test func `a link lost anywhere else is an interruption`() throws {
        for var machine in [try machine(), try selectingData(), try sending(), try waiting()] {
            #expect(machine.linkFailed(.lost, at: at(2)) == failed(.link(.lost)))
        }
    }

    @Test func `a missing receipt is asked for, and a mute target is given up`() throws {
        var machine = try waiting()
        #expect(machine.deadline == at(5))
        #expect(machine.timeout(at: at(4)) == .wait)
        #expect(machine.timeout(at: at(5)) == .write(.checksum))
        #expect(machine.timeout(at: at(8)) == .write(.checksum))
        #expect(machine.timeout(at: at(11)) == failed(.noAnswer(.checksum, of: .image)))
    }

    @Test func `after a missing receipt the answer moves the window`() throws {
        var machine = try waiting()
        _ = machine.timeout(at: at(5))
        let next = SecureDFUUpload.Action.send(1_600..<3_200, of: .image)
        #expect(machine.answer(checksum(1_600, crc(1_600)), at: at(5)) == next)
        #expect(machine.sent == 3_200)
    }

    @Test func `packets that were dropped at the end are all that is sent again`() throws {
        var machine = try waiting()
        _ = machine.timeout(at: at(5))
        let next = SecureDFUUpload.Action.send(1_000..<2_600, of: .image)
        #expect(machine.answer(checksum(1_000, crc(1_000)), at: at(5)) == next)
        #expect(machine.acknowledged == 1_000)
    }

    @Test func `a target that talks without getting on is given up at the deadline`() throws {
        var machine = try selectingData()
        #expect(machine.deadline == at(11))
        #expect(machine.answer(.done(.create), at: at(10)) == .wait)
        let error = failed(.noAnswer(.select, of: .image))
        #expect(machine.answer(.done(.create), at: at(11)) == error)
    }

    @Test func `every state has a deadline at which something happens`() throws {
        var machine = try machine()
        #expect(machine.timeout(at: at(99)) == .wait)
        _ = machine.begin(at: at(0))
        var states = 0
        // The machine is driven through all its states; a copy of it times out in each.
        let script: [DFUResponse?] = [
            selected(0, 0), .done(.setReceiptInterval), .done(.create), nil,
            checksum(40, initCRC), .done(.execute), .done(.setReceiptInterval), selected(0, 0),
            .done(.create), nil, nil, checksum(1_600, crc(1_600)), nil,
            checksum(3_200, crc(3_200)), nil, checksum(4_096, crc(4_096)), .done(.execute),
        ]
        for step in script {
            var copy = machine
            let deadline = try #require(copy.deadline)
            #expect(copy.timeout(at: deadline) != .wait, "\(copy.state)")
            states += 1
            if let step {
                _ = machine.answer(step, at: at(1))
            } else if case .pausing = machine.state {
                _ = machine.pauseOver(at: at(1))
            } else {
                _ = machine.packetsSent(at: at(1))
            }
        }
        #expect(states == 17)
        #expect(machine.acknowledged == 4_096)
    }

    @Test func `a stop comes into effect before the next object`() throws {
        var machine = try machine()
        #expect(machine.stopRequested() == .ended(.stopped(at: 0)))
        machine = try selectingData()
        #expect(machine.stopRequested() == .wait)
        #expect(machine.answer(selected(0, 0)) == .ended(.stopped(at: 0)))
        machine = try selectingData()
        _ = machine.answer(selected(4_096, crc(4_096)))
        #expect(machine.stopRequested() == .wait)
        #expect(machine.answer(.done(.execute)) == .ended(.stopped(at: 4_096)))
    }

    @Test func `a stop during the last object is too late to matter`() throws {
        var machine = try executingLast()
        #expect(machine.stopRequested() == .wait)
        #expect(machine.answer(.done(.execute)) == .ended(.finished))
    }

    @Test func `nothing changes an ending`() throws {
        var machine = try executingLast()
        _ = machine.answer(.done(.execute))
        let ending = SecureDFUUpload.Action.ended(.finished)
        #expect(machine.begin(at: at(3)) == ending)
        #expect(machine.response([], at: at(3)) == ending)
        #expect(machine.packetsSent(at: at(3)) == ending)
        #expect(machine.pauseOver(at: at(3)) == ending)
        #expect(machine.stopRequested() == ending)
        #expect(machine.timeout(at: at(99)) == ending)
        #expect(machine.linkFailed(.lost, at: at(3)) == ending)
    }

    @Test func `events of the shell that belong nowhere change nothing`() throws {
        var machine = try waiting()
        #expect(machine.begin(at: at(3)) == .wait)
        #expect(machine.packetsSent(at: at(3)) == .wait)
        #expect(machine.pauseOver(at: at(3)) == .wait)
        machine = try self.idle()
        #expect(machine.response([0xFF], at: at(0)) == .wait)
    }

    private func idle() throws -> SecureDFUUpload { try machine() }

    @Test func `without an image or an init packet there is nothing to do`() throws {
        let settings = try #require(UploadSettings(maximumLength: 100))
        var machine = SecureDFUUpload(FirmwarePart(firmware: image), settings: settings)
        #expect(machine.begin(at: at(0)) == failed(.unfitLength(of: .initPacket, 0)))
        let empty = FirmwarePart(initPacket: initPacket, firmware: [])
        machine = SecureDFUUpload(empty, settings: settings)
        #expect(machine.begin(at: at(0)) == failed(.unfitLength(of: .image, 0)))
    }

    @Test(arguments: 1...500)
    func `no bytes of any target make it trap or go on forever`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let interval = UInt16(random.below(6))
        var machine = try machine(
            UploadSettings(maximumLength: 20 + random.below(100), receiptInterval: interval)
        )
        var now = at(0)
        var action = machine.begin(at: now)
        var events = 0
        while true {
            if case .ended = action { break }
            events += 1
            // Every event makes progress or brings a deadline nearer: 4 attempts at 2 objects limit
            // them.
            guard events < 50_000 else {
                Issue.record("seed \(seed): no end in sight, \(machine.state)")
                return
            }
            now = now.advanced(by: .milliseconds(random.below(200)))
            let offset = random.chance(0.7) ? machine.acknowledged : random.below(8_000)
            let fits = random.chance(0.8) ? crc(offset) : UInt32(random.below(1 << 32))
            let maximum = UInt32([0, 40, 100, 1_000, 4_096, Int(UInt32.max)][random.below(6)])
            switch random.below(16) {
            case 0: action = machine.answer(selected(offset, fits, of: maximum), at: now)
            case 1: action = machine.answer(selected(40, initCRC, of: maximum), at: now)
            case 2: action = machine.answer(checksum(40, initCRC), at: now)
            case 3, 4: action = machine.answer(checksum(offset, fits), at: now)
            case 5: action = machine.answer(.done(.create), at: now)
            case 6: action = machine.answer(.done(.execute), at: now)
            case 7: action = machine.answer(.done(.setReceiptInterval), at: now)
            case 8, 9, 10: action = machine.packetsSent(at: now)
            case 11: action = machine.pauseOver(at: now)
            case 12: action = machine.timeout(at: now)
            case 13: action = machine.answer(checksum(6_000, crc(6_000)), at: now)
            case 14 where random.chance(0.02):
                action = machine.response(
                    (0..<random.below(20)).map { _ in UInt8(random.below(256)) },
                    at: now
                )
            default: action = machine.timeout(at: machine.deadline ?? now)
            }
            #expect((0...6_000).contains(machine.acknowledged), "seed \(seed)")
        }
    }
}

@Suite struct UploadSettingsTests {
    @Test(arguments: [(20, 20), (23, 20), (182, 180), (244, 244), (512, 512), (60_000, 512)])
    func `a packet is a whole number of words`(maximum: Int, length: Int) {
        #expect(UploadSettings(maximumLength: maximum)?.packetLength == length)
    }

    @Test func `settings with which both sides would wait cannot be made`() {
        #expect(UploadSettings(maximumLength: 19) == nil)
        #expect(UploadSettings(maximumLength: 100, receiptInterval: 12, window: 11) == nil)
        #expect(UploadSettings(maximumLength: 100, window: Int.max) == nil)
        #expect(UploadSettings(maximumLength: 100, retriesPerObject: -1) == nil)
        #expect(UploadSettings(maximumLength: 100, receiptLimit: .zero) == nil)
    }

    @Test func `a slower flow leads down to one packet at a time`() throws {
        let fast = try #require(UploadSettings(maximumLength: 100, firstObjectDelay: .zero))
        let slower = try #require(fast.slower)
        #expect((slower.receiptInterval, slower.window) == (6, 12))
        #expect(slower.firstObjectDelay == .zero)
        let slowest = try #require(slower.slower)
        #expect((slowest.receiptInterval, slowest.window) == (1, 2))
        #expect(slowest.slower == nil)
    }
}
