import Base
import Families
import Simulation
import Testing

/// The rules of the bootloader, with a transcript for each.
@Suite struct TargetTests {
    private typealias Target = SecureDFUTarget<VolatileMemory>

    private let firmware = (0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func packet() throws -> [UInt8] {
        let digest = SHA256.digest(of: firmware)
        return InitPacket(
            type: .application,
            applicationSize: UInt32(firmware.count),
            digest: digest
        ).serialized
    }

    private func target(accepted: Bool = false) throws -> Target {
        var target = Target(
            memory: VolatileMemory(capacity: 16_384),
            sha256: SHA256.digest
        )
        target.notificationsSwitched(on: true)
        guard accepted else { return target }
        let packet = try packet()
        ask(&target, .create(.command, size: UInt32(packet.count)))
        _ = target.packetWritten(packet)
        #expect(ask(&target, .execute) == .done(.execute))
        return target
    }

    @discardableResult
    private func ask(_ target: inout Target, _ request: DFURequest) -> DFUResponse? {
        for case .notify(let bytes) in target.controlPointWritten(request.bytes) ?? [] {
            return try? DFUResponse(bytes)
        }
        return nil
    }

    private func refusal(_ operation: DFUOperation, _ result: DFUResult) -> DFUResponse {
        .failed(operation: operation.rawValue, .result(result))
    }

    @Test func `the control point wants notifications first`() throws {
        var target = try target()
        target.notificationsSwitched(on: false)
        #expect(target.controlPointWritten([0x06, 0x01]) == nil)
    }

    @Test(arguments: [
        (UInt32(0), DFUResult.invalidParameter), (4_097, .insufficientResources),
        (100, .invalidParameter),
    ])
    func `a data object is a whole page or the image's rest`(size: UInt32, result: DFUResult) throws
    {
        var target = try target(accepted: true)
        #expect(ask(&target, .create(.data, size: size)) == refusal(.create, result))
    }

    @Test func `no data without an accepted init packet`() throws {
        var target = try target()
        #expect(ask(&target, .create(.data, size: 4_096)) == refusal(.create, .notPermitted))
    }

    @Test func `an object with a missing byte is not executed`() throws {
        var target = try target(accepted: true)
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[..<4_095]))
        #expect(ask(&target, .execute) == refusal(.execute, .notPermitted))
        #expect(
            ask(&target, .select(.data))
                == .selected(
                    maximumSize: 4_096,
                    offset: 4_095,
                    crc: CRC32.of(firmware[..<4_095])
                )
        )
    }

    @Test func `bytes beyond the object are dropped`() throws {
        var target = try target(accepted: true)
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[..<4_000]))
        _ = target.packetWritten(Array(firmware[..<200]))
        #expect(target.facts.received == 4_000)
    }

    @Test func `creating again goes back to what was executed`() throws {
        var target = try target(accepted: true)
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[..<4_096]))
        #expect(ask(&target, .execute) == .done(.execute))
        #expect(ask(&target, .execute) == .done(.execute), "again is harmless")
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[4_096..<5_000]))
        #expect(
            target.controlPointWritten(DFURequest.create(.data, size: 4_096).bytes)?.first
                == .erase(offset: 4_096)
        )
        #expect(target.facts.received == 4_096)
        #expect(target.facts.receivedCRC == CRC32.of(firmware[..<4_096]))
    }

    @Test func `a new init packet wipes all progress`() throws {
        var target = try target(accepted: true)
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[..<4_096]))
        ask(&target, .execute)
        ask(&target, .create(.command, size: 40))
        #expect(target.facts.received == 0 && !target.facts.initAccepted)
    }

    @Test func `receipts come every so many packets and count from each object`() throws {
        var target = try target(accepted: true)
        ask(&target, .setReceiptInterval(3))
        ask(&target, .create(.data, size: 4_096))
        var receipts: [Int] = []
        for index in 0..<7 {
            let start = index * 20
            if !target.packetWritten(Array(firmware[start..<start + 20])).isEmpty {
                receipts.append(index)
            }
        }
        #expect(receipts == [2, 5])
    }

    @Test func `a whole image is activated, a wrong one is forgotten`() throws {
        for spoiled in [false, true] {
            var target = try target(accepted: true)
            var last: [Target.Action] = []
            for start in stride(from: 0, to: firmware.count, by: 4_096) {
                let end = min(start + 4_096, firmware.count)
                ask(&target, .create(.data, size: UInt32(end - start)))
                var bytes = Array(firmware[start..<end])
                if spoiled && start == 0 { bytes[17] ^= 1 }
                _ = target.packetWritten(bytes)
                last = target.controlPointWritten(DFURequest.execute.bytes) ?? []
            }
            #expect(last.contains(.restart(activate: true)) == !spoiled)
            if spoiled {
                #expect(
                    last == [
                        .notify(
                            DFUResponse.failed(
                                operation: 4,
                                .extended(.verificationFailed)
                            ).bytes
                        )
                    ]
                )
                #expect(target.facts == TransferFacts())
            }
        }
    }

    @Test func `a lost link keeps what has come`() throws {
        var target = try target(accepted: true)
        ask(&target, .create(.data, size: 4_096))
        _ = target.packetWritten(Array(firmware[..<1_000]))
        target.linkClosed()
        target.notificationsSwitched(on: true)
        #expect(
            ask(&target, .select(.data))
                == .selected(maximumSize: 4_096, offset: 1_000, crc: CRC32.of(firmware[..<1_000]))
        )
    }

    @Test func `modules authenticate with the published sum`() {
        let answer = SHA1.digest(
            of: (0..<20).map { UInt8($0) } + [UInt8](repeating: 0x11, count: 20)
        )
        #expect(Hex.text(answer) == "30bd33d7d25e991b5b801cf322d015285902bfbb")
    }
}
