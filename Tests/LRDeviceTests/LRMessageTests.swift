import Base
import Families
import Testing

/// Messages and payloads according to the published format, and invalid ones.
@Suite struct LRMessageTests {
    private static func request(
        _ command: LRCommand,
        _ payload: [UInt8] = [],
        isSealed: Bool = false
    ) -> [UInt8]? {
        LRMessage(.request, command, isSealed: isSealed, payload: payload)?.bytes
    }

    @Test(arguments: [
        (request(.startNetworkListen), "0501010200"),
        (request(.startNetworkListen, isSealed: true), "0501010201"),
        (request(.startNetworkListen, [0, 0, 0, 0]), "090101020000000000"),
        (request(.getName), "0501020100"),
        (request(.setName, LRPayload.name("test")), "090101010074657374"),
        (request(.setAutoLock, LRPayload.autoLock(5)), "060103010005"),
        (request(.setAutoLock, LRPayload.autoLock(nil)), "0501030100"),
        (request(.setAutoLock, LRPayload.autoLock(999)), "0601030100e7"),
        (request(.setAutoLock, LRPayload.autoLock(-1)), "060103010001"),
        (request(.connectToNetwork, LRPayload.pair("a", "b")), "0801040200611f62"),
        (request(.guestUnlock, [1]), "060101050001"),
    ])
    func `a published message is made byte for byte`(made: [UInt8]?, hex: String) {
        #expect(made.map { Hex.text($0) } == hex)
    }

    @Test func `published messages are read`() throws {
        let reply = try LRMessage([6, 2, 1, 4, 0, 1])
        #expect(reply.kind == .reply && reply.command == .getLockState && reply.payload == [1])
        #expect(LRLockState(reported: 1) == .unlocked && LRLockState(reported: 7) == .locked)
        let sealed = try LRMessage([5, 1, 1, 2, 1])
        #expect(sealed.isSealed && sealed.payload.isEmpty)
        #expect(try LRMessage([7, 2, 1, 2, 1, 0xFF, 0]).payload == [0xFF, 0])
        #expect(LRPayload.names(in: [0x61, 0x1F, 0x62, 0x1F, 0x63]) == ["a", "b", "c"])
        #expect(LRPayload.names(in: [0x1F, 0x61, 0x1F, 0x1F]) == ["a"])
    }

    @Test(
        arguments: [
            ([0xFF, 0xFF], LRMessageError.tooShort(2)), ([], .tooShort(0)),
            ([5, 4, 1, 2, 0], .unknownKind(4)), ([5, 0, 1, 2, 0], .unknownKind(0)),
            ([6, 1, 1, 2, 0], .wrongLength(claimed: 6, actual: 5)),
            ([5, 1, 1, 2, 0, 9], .wrongLength(claimed: 5, actual: 6)),
            ([0, 2, 1, 2, 0], .wrongLength(claimed: 0, actual: 5)),
        ] as [([UInt8], LRMessageError)]
    )
    func `what is no message is refused with its reason`(bytes: [UInt8], error: LRMessageError) {
        #expect(throws: error) { try LRMessage(bytes) }
        #expect(!error.description.isEmpty)
    }

    @Test func `a payload that one message cannot carry makes none`() {
        #expect(request250 != nil)
        #expect(Self.request(.setUser, Array(repeating: 1, count: 251)) == nil)
    }

    private var request250: [UInt8]? {
        Self.request(.setUser, Array(repeating: 1, count: 250))
    }

    @Test func `a name is cut after twenty characters, not bytes`() {
        #expect(LRPayload.name("äöüäöüäöüäöüäöüäöüäöüäöü").count == 40)
    }

    @Test func `the serial is what follows the company in the advertisement`() {
        let bytes = [UInt8](repeating: 0x99, count: 6)
        #expect(LRNumbers.serial(manufacturerData: bytes)?.text == "999999999999")
        #expect(LRNumbers.serial(manufacturerData: [0x99]) == nil)
        #expect(LRNumbers.service.description == "00000000-9f34-11ee-8c90-0242ac120002")
        #expect(
            LRNumbers.reply.uuid.description == "00000002-9f34-11ee-8c90-0242ac120002"
        )
    }

    @Test func `a million mutated messages are read or refused, never more`() {
        var random = SplitMix64(seed: 7)
        let seeds: [[UInt8]] = [
            [5, 1, 1, 2, 0], [7, 2, 1, 2, 1, 0xFF, 0], [9, 1, 1, 1, 0, 0x74, 0x65, 0x73, 0x74],
        ]
        var (read, refused) = (0, 0)
        for _ in 0..<1_000_000 {
            var bytes = seeds[random.below(seeds.count)]
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.chance(0.2) { bytes = Array(bytes.prefix(random.below(bytes.count + 1))) }
            if bytes.isEmpty { bytes = [UInt8(truncatingIfNeeded: random.next())] }
            do throws(LRMessageError) {
                let message = try LRMessage(bytes)
                // Only the flag byte has values that are not kept: those above 1 are read as 0.
                if message.bytes == bytes || bytes[4] > 1 { read += 1 }
            } catch { refused += 1 }
        }
        #expect(read + refused == 1_000_000)
        #expect(read > 100_000 && refused > 100_000)
    }
}
