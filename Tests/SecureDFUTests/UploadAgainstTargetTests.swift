import Base
import Families
import Simulation
import Testing

/// 3 objects, the last one short: 17 + 17 + 8 packets of 244 bytes, after 1 of the init packet.
private let size = 10_000
private let window = 24 * 244
/// Receipt intervals and windows: none, every packet, uneven ones, the default.
private let flows: [(UInt16, Int?)] = [(0, nil), (1, 1), (1, 5), (7, 8), (12, nil)]

@Suite struct UploadAgainstTargetTests {
    @Test func `a clean upload sends every byte once`() throws {
        var bench = try Bench(size: size)
        #expect(bench.upload(try settings()) == .finished)
        #expect(bench.isComplete)
        #expect(bench.imageBytes == size)
        let requests: [DFURequest] = [
            .select(.command), .setReceiptInterval(0),
            .create(.command, size: UInt32(bench.initPacket.count)), .checksum, .execute,
            .setReceiptInterval(12), .select(.data),
            .create(.data, size: 4_096), .checksum, .execute,
            .create(.data, size: 4_096), .checksum, .execute,
            .create(.data, size: 1_808), .checksum, .execute,
        ]
        #expect(bench.requests == requests)
    }

    @Test(arguments: [1, 3, 4, 243, 244, 245, 4_095, 4_096, 4_097, 8_192, 65_536], flows)
    func `images of any length arrive whole`(size: Int, flow: (UInt16, Int?)) throws {
        var bench = try Bench(size: size)
        let settings = try settings(receipts: flow.0, window: flow.1)
        #expect(bench.upload(settings) == .finished)
        #expect(bench.isComplete)
        #expect(bench.imageBytes == size)
    }

    @Test(arguments: [20, 23, 61, 182, 244, 509, 512])
    func `packets of any length do`(length: Int) throws {
        var bench = try Bench(size: size)
        #expect(bench.upload(try settings(length: length)) == .finished)
        #expect(bench.isComplete)
    }

    @Test(arguments: flows)
    func `a link lost at any packet costs no byte that had arrived`(
        flow: (UInt16, Int?)
    ) throws {
        let settings = try settings(receipts: flow.0, window: flow.1)
        for packet in 0..<43 {
            for fate in [Bench.Fate.linkBreaksBefore, .linkBreaksAfter] {
                var bench = try Bench(size: size)
                bench.packetFate = { $0 == packet ? fate : .passes }
                #expect(bench.upload(settings, links: 2) == .finished, "packet \(packet)")
                #expect(bench.isComplete, "packet \(packet)")
                #expect(bench.imageBytes == size, "packet \(packet)")
                #expect(bench.links == 2)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a link lost at any request is taken up again`(refusesSecondExecute: Bool) throws {
        var rules = SecureDFUTarget<VolatileMemory>.Rules()
        rules.refusesSecondExecute = refusesSecondExecute
        for request in 0..<16 {
            for fate in [Bench.Fate.linkBreaksBefore, .linkBreaksAfter] {
                var bench = try Bench(size: size, rules: rules)
                bench.requestFate = { $0 == request ? fate : .passes }
                let ending = bench.upload(try settings(), links: 2)
                #expect(ending == .finished, "request \(request)")
                #expect(bench.isComplete, "request \(request)")
                #expect(bench.imageBytes == size, "request \(request)")
            }
        }
    }

    @Test func `a link lost before any notification is taken up again`() throws {
        for notification in 0..<20 {
            var bench = try Bench(size: size)
            bench.notificationFate = { $0 == notification ? .linkBreaksBefore : .passes }
            let ending = bench.upload(try settings(), links: 2)
            #expect([.finished, .finishedOrLost].contains(ending), "\(notification)")
            #expect(bench.isComplete, "notification \(notification)")
            #expect(bench.imageBytes == size, "notification \(notification)")
        }
    }

    @Test func `packets that were in the radio when the link was lost are sent again`() throws {
        for packet in 1..<43 {
            var bench = try Bench(size: size)
            // The packets from this one on are lost, and the link only breaks later.
            bench.packetFate = {
                $0 < packet || $0 > packet + 20
                    ? .passes : $0 == packet + 20 ? .linkBreaksBefore : .isLost
            }
            #expect(bench.upload(try settings(), links: 8) == .finished, "packet \(packet)")
            #expect(bench.isComplete, "packet \(packet)")
            #expect(bench.imageBytes <= size + 4_096 + window, "packet \(packet)")
        }
    }

    @Test func `a target that forgot everything gets everything`() throws {
        for packet in [0, 1, 10, 18, 30, 42] {
            var bench = try Bench(size: size)
            bench.packetFate = { $0 == packet ? .linkBreaksAfter : .passes }
            bench.meanwhile = { $0.progressLost() }
            #expect(bench.upload(try settings(), links: 2) == .finished)
            #expect(bench.isComplete)
        }
    }

    @Test(arguments: flows)
    func `a packet lost on a link that holds costs at most its object`(
        flow: (UInt16, Int?)
    ) throws {
        let settings = try settings(receipts: flow.0, window: flow.1)
        for packet in 0..<43 {
            var bench = try Bench(size: size)
            bench.packetFate = { $0 == packet ? .isLost : .passes }
            #expect(bench.upload(settings) == .finished, "packet \(packet)")
            #expect(bench.isComplete, "packet \(packet)")
            #expect(bench.imageBytes <= size + 4_096, "packet \(packet)")
        }
    }

    @Test(arguments: flows)
    func `notifications that come twice change nothing`(flow: (UInt16, Int?)) throws {
        var bench = try Bench(size: size)
        bench.notificationFate = { _ in .comesTwice }
        let settings = try settings(receipts: flow.0, window: flow.1)
        #expect(bench.upload(settings) == .finished)
        #expect(bench.isComplete)
        #expect(bench.imageBytes == size)
    }

    @Test(arguments: flows)
    func `a lost notification is asked for again or costs the link, but no object`(
        flow: (UInt16, Int?)
    ) throws {
        let settings = try settings(receipts: flow.0, window: flow.1)
        for notification in 0..<30 {
            var bench = try Bench(size: size)
            bench.notificationFate = { $0 == notification ? .isLost : .passes }
            let ending = bench.upload(settings, links: 2)
            #expect([.finished, .finishedOrLost].contains(ending), "\(notification)")
            #expect(bench.isComplete, "notification \(notification)")
            #expect(bench.imageBytes <= size + 4_096, "notification \(notification)")
        }
    }

    @Test func `without any receipt the checksum is asked for, and no byte sent twice`() throws {
        var bench = try Bench(size: size)
        bench.losesReceipts = true
        #expect(bench.upload(try settings(length: 23)) == .finished)
        #expect(bench.isComplete)
        #expect(bench.imageBytes == size)
    }

    @Test(arguments: [
        (4_096, 4_096, true), (4_096, 0, true), (5_000, 4_096, false), (8_192, 8_192, false),
        (8_192, 4_096, false), (1, 0, false), (10_000, 8_192, false), (20_000, 16_384, false),
    ])
    func `whatever another client left behind, our image arrives`(
        received: Int,
        executed: Int,
        hasObject: Bool
    ) throws {
        let fresh = try Bench(size: size)
        var facts = TransferFacts()
        facts.initPacket = fresh.initPacket
        facts.initSize = fresh.initPacket.count
        facts.initAccepted = true
        facts.received = received
        facts.executed = executed
        facts.receivedCRC = 0xDEAD_BEEF
        facts.executedCRC = 0xBAD_F00D
        facts.objectSize = hasObject || received > executed ? 4_096 : nil
        var bench = try Bench(size: size, facts: facts)
        #expect(bench.upload(try settings()) == .finished)
        #expect(bench.isComplete)
    }

    @Test func `the init packet of another image makes a new transfer`() throws {
        let other = try Bench(size: 6_000)
        var facts = TransferFacts()
        facts.initPacket = other.initPacket
        facts.initSize = other.initPacket.count
        facts.initAccepted = true
        facts.received = 4_096
        facts.executed = 4_096
        var bench = try Bench(size: size, facts: facts)
        #expect(bench.upload(try settings()) == .finished)
        #expect(bench.isComplete)
        #expect(bench.imageBytes == size)
    }

    @Test func `half an init packet is completed, not sent again`() throws {
        let fresh = try Bench(size: size)
        var facts = TransferFacts()
        facts.initPacket = Array(fresh.initPacket.prefix(20))
        facts.initSize = fresh.initPacket.count
        var bench = try Bench(size: size, facts: facts)
        #expect(bench.upload(try settings(length: 20)) == .finished)
        #expect(bench.isComplete)
        let created = bench.requests.contains {
            if case .create(.command, _) = $0 { return true }
            return false
        }
        #expect(!created)
    }

    @Test(arguments: 1...400)
    func `any mixture of faults ends with the image or with an error`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var rules = SecureDFUTarget<VolatileMemory>.Rules()
        rules.refusesSecondExecute = random.chance(0.5)
        let size = 1 + random.below(30_000)
        var bench = try Bench(size: size, rules: rules)
        let harm = [0.001, 0.005, 0.02][random.below(3)]
        // The number of faults is limited, because a vehicle in reach is reached in the end.
        var dice = SplitMix64(seed: seed ^ 0xFA17)
        var faults = 0
        func fate() -> Bench.Fate {
            guard faults < 60, dice.chance(harm) else { return .passes }
            faults += 1
            return [.isLost, .comesTwice, .linkBreaksBefore, .linkBreaksAfter][dice.below(4)]
        }
        bench.packetFate = { _ in fate() }
        bench.requestFate = { _ in fate() }
        bench.notificationFate = { _ in fate() }
        let forgets = random.chance(0.2)
        bench.meanwhile = { if forgets && dice.chance(0.1) { $0.progressLost() } }
        let interval = UInt16(random.below(20))
        let settings = try settings(
            length: 20 + random.below(490),
            receipts: interval,
            window: max(1, Int(interval)) + random.below(20)
        )
        let ending = bench.upload(settings, links: 100)
        switch ending {
        case .finished, .finishedOrLost:
            #expect(bench.isComplete, "seed \(seed)")
        case .stopped:
            Issue.record("seed \(seed): stopped, which nobody asked for")
        case .failed(let error):
            Issue.record("seed \(seed): \(error)")
        }
        if !forgets, bench.isComplete {
            let repeats = bench.imageBytes - size
            let bound = faults * (4_096 + settings.window * settings.packetLength)
            #expect(repeats <= bound, "seed \(seed)")
        }
    }
}
