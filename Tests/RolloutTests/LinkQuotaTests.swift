import Base
import Rollout
import Testing

/// An adapter's number of links, as its links send, slow down and break.
@Suite struct LinkQuotaTests {
    /// A quota with time, and links that send at given rates.
    private final class Bench {
        var quota: LinkQuota
        var now = Moment(nanoseconds: 0)
        private var sent: [Int: Int] = [:]

        init(most: Int = 7, from learned: Int = 1) {
            quota = LinkQuota(most: most, from: learned)
            quota.look(at: now, isFull: true)
        }

        /// Second by second, each link gets as many bytes confirmed as `rate` says.
        func send(_ links: Int, for seconds: Int, isFull: Bool = true, at rate: Int) {
            for _ in 0..<seconds {
                now = now.advanced(by: .seconds(1))
                for link in 0..<links {
                    sent[link, default: 0] += rate
                    _ = quota.take(
                        .confirmed(sent[link] ?? 0),
                        of: link,
                        beside: links - 1,
                        at: now
                    )
                }
                quota.look(at: now, isFull: isFull)
            }
        }

        func lose(_ link: Int, beside others: Int) -> Bool {
            quota.take(.lost, of: link, beside: others, at: now)
        }

        func refuse(beside others: Int) -> Bool {
            quota.take(.refused, of: others, beside: others, at: now)
        }
    }

    /// All links together send at most this much a second.
    private static let air = 30_000

    @Test(arguments: [(10_000, 3...4), (5_000, 6...7), (30_000, 1...2), (1_000, 7...7)])
    func `links are added while they bring more bytes`(
        rate: Int,
        expected: ClosedRange<Int>
    ) {
        let bench = Bench()
        for _ in 0..<100 {
            let links = bench.quota.links
            bench.send(links, for: 4, at: min(rate, Self.air / links))
        }
        #expect(expected.contains(bench.quota.proven), "\(bench.quota.proven)")
    }

    @Test func `it begins with one, and waits until that has sent`() {
        let bench = Bench()
        for _ in 0..<20 { bench.send(0, for: 4, at: 0) }
        #expect(bench.quota.links == 1)
        bench.send(1, for: 4, at: 8_000)
        #expect(bench.quota.links == 2)
        #expect(bench.quota.proven == 1)
    }

    @Test(arguments: [(1, 5...8), (2, 12...20)])
    func `a trial without anything to compare is short before the first failure`(
        learned: Int,
        seconds: ClosedRange<Int>
    ) {
        let bench = Bench(from: learned)
        bench.send(learned, for: 4 * learned, at: 8_000)
        #expect(bench.quota.links == learned + 1)
        // The links that were there before have sent all that they had.
        for link in 0..<learned { bench.quota.ended(link) }
        var waited = 0
        while bench.quota.proven == learned, waited < 60 {
            bench.send(0, for: 1, at: 0)
            waited += 1
        }
        #expect(seconds.contains(waited), "\(waited) s")
    }

    @Test(arguments: [0, 1])
    func `what more links send proves nothing in the first seconds, nor after a loss`(lost: Int) {
        let bench = Bench()
        bench.send(1, for: 2, at: 8_000)
        bench.send(2, for: 5, at: 8_000)
        #expect(bench.quota.links == 2 && bench.quota.proven == 1)
        for _ in 0..<lost { #expect(bench.lose(1, beside: 1)) }
        bench.send(2, for: 4, at: 8_000)
        #expect(bench.quota.proven == 2 - lost)
        bench.send(2, for: 14, at: 8_000)
        #expect(bench.quota.proven >= 2)
    }

    @Test func `what fewer links send than were tried proves nothing early`() {
        let bench = Bench(from: 3)
        bench.send(1, for: 8, at: 8_000)
        #expect(bench.quota.links == 4)
        bench.send(2, for: 8, at: 8_000)
        #expect(bench.quota.links == 4 && bench.quota.proven == 3)
    }

    @Test func `links without work prove nothing early`() {
        let bench = Bench()
        bench.send(1, for: 4, at: 8_000)
        bench.send(0, for: 14, isFull: false, at: 0)
        #expect(bench.quota.proven == 1 && bench.quota.links == 2)
    }

    @Test func `without work for a further link, none is tried`() {
        let bench = Bench()
        bench.send(1, for: 60, isFull: false, at: 8_000)
        #expect(bench.quota.links == 1)
    }

    @Test func `the number doubles until a trial fails, and then grows by one`() {
        let bench = Bench()
        var seen: [Int] = []
        func note() { if seen.last != bench.quota.links { seen.append(bench.quota.links) } }
        for _ in 0..<40 {
            bench.send(min(bench.quota.links, 5), for: 4, at: 8_000)
            note()
            // An adapter that keeps up five links.
            if bench.quota.links > 5 {
                for link in 0..<2 where bench.quota.links > 5 {
                    #expect(bench.lose(5 + link, beside: 5))
                }
                note()
            }
        }
        #expect(seen.starts(with: [2, 4, 7, 4, 5, 6, 5]), "\(seen)")
        #expect(bench.quota.proven == 5)
    }

    @Test func `a bound holds, and so does what was learned`() {
        let bench = Bench(most: 3, from: 9)
        #expect(bench.quota.links == 3)
        bench.send(3, for: 200, at: 8_000)
        #expect(bench.quota.links == 3)
        #expect(LinkQuota(most: 7, from: 0).links == 1)
    }

    @Test func `a link that is lost alone, and one module that always loses it, change nothing`() {
        let bench = Bench(from: 3)
        for _ in 0..<10 { #expect(!bench.lose(0, beside: 0)) }
        // Whose fault the first loss is, nobody knows.
        #expect(bench.lose(0, beside: 2))
        for _ in 0..<10 { #expect(!bench.lose(0, beside: 2)) }
        #expect(bench.quota.links == 3)
    }

    @Test func `links that break one after the other lower a proven number by one`() {
        let bench = Bench(from: 4)
        #expect([0, 1, 2].map { bench.lose($0, beside: 3) } == [true, true, true])
        #expect(bench.quota.links == 3)
        // The fourth is one too many until it ends, and its loss changes nothing more.
        #expect(bench.lose(3, beside: 3))
        #expect(bench.quota.links == 3)
    }

    @Test func `a refusal lowers the number to what the adapter carries`() {
        let bench = Bench(from: 7)
        for others in [6, 5, 4, 3] {
            #expect(bench.refuse(beside: others))
        }
        #expect(bench.quota.links == 3)
        #expect(bench.quota.proven == 3)
    }

    @Test func `links that fall to less than half have one too many beside them`() {
        let bench = Bench(most: 4, from: 4)
        bench.send(4, for: 20, at: 8_000)
        #expect(bench.quota.links == 4)
        bench.send(4, for: 8, at: 3_000)
        #expect(bench.quota.links == 3)
        bench.send(3, for: 40, at: 3_000)
        #expect(bench.quota.links == 3, "slow links alone are no reason")
    }
}
