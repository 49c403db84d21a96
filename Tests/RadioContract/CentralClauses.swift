import Base
import Radio

extension RadioContract {
    static let centralClauses: [ContractClause] = [
        ContractClause("an advertiser is heard with its data") { bench in
            let heard = try await bench.findPeer()
            try expect(
                heard.manufacturerData == [ContractPeer.company: ContractPeer.identity],
                "the manufacturer data is as sent, got \(heard.manufacturerData)"
            )
            try expect((-127...20).contains(heard.signal), "the signal is in dBm")
        },
        ContractClause("a filter keeps others away and the scan ends at its deadline") { bench in
            let deadline = bench.soon(.seconds(2))
            try await expect(.timedOut, "nobody of company 0001 advertises") {
                () async throws(RadioError) in
                try await bench.central.withScan(ScanFilter(companies: [1])) {
                    scan throws(RadioError) in
                    try await scan.next(before: deadline)
                }
            }
            try expect(bench.time.now >= deadline, "a scan does not end before its deadline")
        },
        ContractClause("an advertiser is heard again and again") { bench in
            let deadline = bench.soon()
            let count = try await bench.central.withScan(ScanFilter()) {
                scan throws(RadioError) in
                for _ in 0..<3 { _ = try await scan.next(before: deadline) }
                return 3
            }
            try expect(count == 3, "three advertisements")
        },
        ContractClause("a link finds the characteristics and their flags") { bench in
            let link = try await bench.connectToPeer()
            try expect(link.flags(of: ContractPeer.store)?.contains(.read) == true, "store reads")
            try expect(
                link.flags(of: ContractPeer.echo)?.isSuperset(
                    of: [.writeWithoutResponse, .notify]) == true,
                "echo writes and notifies"
            )
            try expect(link.flags(of: ContractPeer.absent) == nil, "what is absent is not found")
            try expect((20...512).contains(link.maximumLength), "the length is a write's")
            await link.disconnect()
        },
        ContractClause("what is written is read back") { bench in
            let link = try await bench.connectToPeer()
            let bytes: [UInt8] = Array(0..<20)
            try await link.write(bytes, to: ContractPeer.store, before: bench.soon())
            let read = try await link.read(ContractPeer.store, before: bench.soon())
            try expect(read == bytes, "the bytes come back, got \(read)")
            await link.disconnect()
        },
        ContractClause("what the peer refuses is an error of the protocol") { bench in
            let link = try await bench.connectToPeer()
            try await expect(.att(.insufficientAuthorization), "a refused read") {
                () async throws(RadioError) in
                try await link.read(ContractPeer.refusing, before: bench.soon())
            }
            try await expect(.att(.insufficientAuthorization), "a refused write") {
                () async throws(RadioError) in
                try await link.write([1], to: ContractPeer.refusing, before: bench.soon())
            }
            await link.disconnect()
        },
        ContractClause("a characteristic that is absent is named") { bench in
            let link = try await bench.connectToPeer()
            try await expect(
                .missingCharacteristic(ContractPeer.absent.uuid),
                "a read of what is absent"
            ) { () async throws(RadioError) in
                try await link.read(ContractPeer.absent, before: bench.soon())
            }
            await link.disconnect()
        },
        ContractClause("commands arrive whole, in order, and are notified back") { bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            let length = link.maximumLength
            for number in 0..<100 {
                let bytes = [UInt8](repeating: UInt8(number), count: number == 0 ? length : 20)
                try await link.send(bytes, to: ContractPeer.echo)
            }
            for number in 0..<100 {
                let bytes = try await echoes.next(before: bench.soon())
                try expect(
                    bytes.first == UInt8(number) && bytes.count == (number == 0 ? length : 20),
                    "echo \(number) is whole and in its place, got \(bytes.count) bytes"
                )
            }
            await link.disconnect()
        },
        ContractClause(
            "packets that are queued at once arrive whole, in order, before what is sent next"
        ) {
            bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            let bytes = (0..<1_010).map { UInt8(truncatingIfNeeded: $0) }
            var rest = bytes[...]
            let taken = try await link.queue(rest, in: 20, to: ContractPeer.echo)
            try expect(
                taken == bytes.count || taken.isMultiple(of: 20),
                "whole packets were taken, got \(taken) bytes"
            )
            rest = rest.dropFirst(taken)
            while !rest.isEmpty {
                try await link.send(Array(rest.prefix(20)), to: ContractPeer.echo)
                rest = rest.dropFirst(20)
            }
            var heard: [UInt8] = []
            while heard.count < bytes.count {
                let echo = try await echoes.next(before: bench.soon())
                let left = bytes.count - heard.count
                try expect(echo.count == min(20, left), "a packet of \(echo.count) bytes")
                heard += echo
            }
            try expect(heard == bytes, "all bytes in their order")
            await link.disconnect()
        },
        ContractClause("a listener hears every value in order, and what it says at once arrives") {
            bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            let talk = Monitor((heard: [UInt8](), unsaid: UInt8?.some(1)))
            while let number = talk.withLock({ $0.unsaid.take() }) {
                try await link.send([number], to: ContractPeer.echo)
                try await echoes.next(before: bench.soon()) { value, say in
                    talk.withLock { talk in
                        talk.heard += value
                        guard let last = value.last, last < 100 else { return false }
                        if !say([last + 1]) { talk.unsaid = last + 1 }
                        return talk.unsaid == nil
                    }
                }
            }
            let heard = talk.withLock { $0.heard }
            try expect(heard == Array(1...100), "each number once, in order, got \(heard)")
            try await expect(.timedOut, "nothing more is notified") { () async throws(RadioError) in
                try await echoes.next(before: bench.soon(.milliseconds(500)))
            }
            await link.disconnect()
        },
        ContractClause("a listener hears what came before it, and waits no longer than it may") {
            bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            for number in 1...3 { try await link.send([UInt8(number)], to: ContractPeer.echo) }
            await bench.time.sleep(for: .seconds(1), "the echoes to arrive")
            let heard = Monitor<[UInt8]>([])
            let deadline = bench.soon(.seconds(1))
            try await expect(.timedOut, "a listener that wants more") {
                () async throws(RadioError) in
                try await echoes.next(before: deadline) { value, _ in
                    heard.withLock { $0 += value }
                    return true
                }
            }
            try expect(bench.time.now >= deadline, "the wait does not end before its deadline")
            let before = heard.withLock { $0 }
            try expect(before == [1, 2, 3], "what had come was heard, got \(before)")
            do {
                try await link.write([1], to: ContractPeer.order, before: bench.soon())
            } catch RadioError.linkLost {}
            try await expect(.linkLost, "a listener on a lost link") {
                () async throws(RadioError) in
                try await echoes.next(before: bench.soon()) { _, _ in true }
            }
            await link.disconnect()
        },
        ContractClause("what is too long is refused before it is sent") { bench in
            let link = try await bench.connectToPeer()
            let limit = link.maximumLength
            let bytes = [UInt8](repeating: 0, count: limit + 1)
            try await expect(.tooLong(limit: limit), "a command that is too long") {
                () async throws(RadioError) in
                try await link.send(bytes, to: ContractPeer.echo)
            }
            await link.disconnect()
        },
        ContractClause("an indication arrives and is confirmed") { bench in
            let link = try await bench.connectToPeer()
            let indications = try await link.subscribe(
                to: ContractPeer.indicating,
                before: bench.soon()
            )
            try await link.write([2], to: ContractPeer.order, before: bench.soon())
            let bytes = try await indications.next(before: bench.soon())
            try expect(bytes == [0x20], "the indication's value, got \(bytes)")
            await link.disconnect()
        },
        ContractClause("a wait for a notification ends at its deadline and the link stays") {
            bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            try await expect(.timedOut, "nothing is notified") { () async throws(RadioError) in
                try await echoes.next(before: bench.soon(.milliseconds(500)))
            }
            try await link.send([7], to: ContractPeer.echo)
            let late = try await echoes.next(before: bench.soon())
            try expect(late == [7], "the link still works")
            await link.disconnect()
        },
        ContractClause("a link that the peer ends is lost for every call") { bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            do {
                try await link.write([1], to: ContractPeer.order, before: bench.soon())
            } catch RadioError.linkLost {}
            try await expect(.linkLost, "a wait on a lost link") { () async throws(RadioError) in
                try await echoes.next(before: bench.soon())
            }
            try await expect(.linkLost, "a read on a lost link") { () async throws(RadioError) in
                try await link.read(ContractPeer.store, before: bench.soon())
            }
            try await expect(.linkLost, "a command on a lost link") {
                () async throws(RadioError) in
                try await link.send([1], to: ContractPeer.echo)
            }
            await link.disconnect()
        },
        ContractClause("a peer that falls silent is lost, not waited for") { bench in
            let link = try await bench.connectToPeer()
            let echoes = try await link.subscribe(to: ContractPeer.echo, before: bench.soon())
            await bench.cause(.peerLeaves)
            try await expect(.linkLost, "the peer is out of reach") {
                () async throws(RadioError) in
                try await echoes.next(before: bench.soon(.seconds(60)))
            }
            await bench.cause(.peerReturns)
            let again = try await bench.connectToPeer()
            await again.disconnect()
        },
        ContractClause("a disconnected peer advertises again and nothing comes back by itself") {
            bench in
            let first = try await bench.connectToPeer()
            _ = try await first.subscribe(to: ContractPeer.echo, before: bench.soon())
            await first.disconnect()
            await first.disconnect()
            let second = try await bench.connectToPeer()
            let echoes = try await second.subscribe(to: ContractPeer.echo, before: bench.soon())
            try await second.send([9], to: ContractPeer.echo)
            let echoed = try await echoes.next(before: bench.soon())
            try expect(echoed == [9], "the new link is a new one")
            await second.disconnect()
        },
        ContractClause("a peer that is away cannot be connected to, and the time is kept") {
            bench in
            let peer = try await bench.findPeer().peer
            await bench.cause(.peerLeaves)
            let deadline = bench.soon(.seconds(3))
            do {
                _ = try await bench.central.connect(to: peer, before: deadline)
                throw ContractViolation("a link to nobody")
            } catch let error as RadioError {
                try expect(
                    error == .timedOut || error == .connectFailed,
                    "the attempt times out, got \(error)"
                )
            }
            await bench.cause(.peerReturns)
        },
        ContractClause("a link that fails once can be tried again") { bench in
            await bench.cause(.peerRefusesLinks(1))
            let peer = try await bench.findPeer().peer
            try await expect(.connectFailed, "the refused link") { () async throws(RadioError) in
                try await bench.central.connect(to: peer, before: bench.soon())
            }
            let link = try await bench.connectToPeer()
            await link.disconnect()
        },
        ContractClause("a peer with a new address is found by what it advertises") { bench in
            let before = try await bench.findPeer().peer
            await bench.cause(.peerChangesAddress)
            var after = before
            for _ in 0..<20 where after == before { after = try await bench.findPeer().peer }
            try expect(after != before, "the handle is a new one")
            let link = try await bench.central.connect(to: after, before: bench.soon())
            await link.disconnect()
        },
        ContractClause("an adapter that is switched off ends its links and works again later") {
            bench in
            let link = try await bench.connectToPeer()
            await bench.cause(.adapterOff)
            try await expect(.linkLost, "its link") { () async throws(RadioError) in
                try await link.read(ContractPeer.store, before: bench.soon())
            }
            try await expect(.adapterOff, "a scan on it") { () async throws(RadioError) in
                try await bench.findPeer()
            }
            await bench.cause(.adapterOn)
            let again = try await bench.connectToPeer()
            await again.disconnect()
        },
        ContractClause("a restart of the host's service ends links and scans, and it works again") {
            bench in
            let link = try await bench.connectToPeer()
            await bench.cause(.stackRestart)
            try await expect(.linkLost, "its link") { () async throws(RadioError) in
                try await link.read(ContractPeer.store, before: bench.soon())
            }
            // The service may not have ended yet, or it may have restarted and not found its
            // adapters.
            let patience = bench.soon()
            while true {
                do throws(RadioError) {
                    let again = try await bench.connectToPeer()
                    return await again.disconnect()
                } catch {
                    guard error == .adapterMissing || error == .serviceUnavailable,
                        bench.time.now < patience
                    else { throw error }
                    await bench.time.sleep(for: .milliseconds(50), "the adapter to come back")
                }
            }
        },
        ContractClause("a cancelled wait ends at once and leaves the radio usable") { bench in
            let started = bench.time.now
            let ended = await withTaskGroup(of: RadioError?.self) { group in
                group.addTask {
                    do throws(RadioError) {
                        try await bench.central.withScan(ScanFilter(companies: [1])) {
                            scan throws(RadioError) in
                            _ = try await scan.next(before: started.advanced(by: .seconds(600)))
                        }
                        return nil
                    } catch { return error }
                }
                await bench.time.sleep(for: .seconds(1), "the scan to be under way")
                group.cancelAll()
                return await group.next() ?? nil
            }
            try expect(ended == .cancelled, "the scan is cancelled, got \(ended as Any)")
            try expect(
                started.duration(to: bench.time.now) < .seconds(60),
                "it does not wait it out"
            )
            let link = try await bench.connectToPeer()
            await link.disconnect()
        },
    ]
}
