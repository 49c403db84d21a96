import Base
import Store
import Testing

/// Renewal and loss of rights, as transcripts: length 60 s, margin 1 s, beat 15 s, reserve 25 s.
@Suite struct LeaseKeeperTests {
    private let terms = LeaseTerms.standard

    private func at(_ seconds: Int) -> Moment {
        Moment(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private func lease(_ name: String, _ epoch: Int = 1) throws -> FleetLease {
        FleetLease(serial: try #require(Serial(name)), epoch: epoch)
    }

    @Test func `a right is renewed at each beat and never touched otherwise`() throws {
        let a = try lease("a")
        var keeper = LeaseKeeper(terms)
        #expect(keeper.next == nil)
        keeper.granted(a, sent: at(0))
        #expect(keeper.next == at(15))
        #expect(keeper.tick(at(14)) == [])
        #expect(keeper.tick(at(15)) == [.renew([a])])
        // Only one renewal at a time; the end of the right is watched meanwhile.
        #expect(keeper.tick(at(16)) == [])
        #expect(keeper.next == at(34))
        #expect(keeper.renewed([a], of: [a], sent: at(15)) == [])
        #expect(keeper.state(of: a.serial) == .held(until: at(74)))
        #expect(keeper.next == at(30))
    }

    @Test func `without answers work is asked for its safe point, then cut`() throws {
        let a = try lease("a")
        var keeper = LeaseKeeper(terms)
        keeper.granted(a, sent: at(0))
        #expect(keeper.tick(at(15)) == [.renew([a])])
        keeper.unanswered(at(23))
        #expect(keeper.tick(at(24)) == [.renew([a])])
        keeper.unanswered(at(32))
        #expect(keeper.next == at(34))
        #expect(keeper.tick(at(34)) == [.rest(a.serial), .renew([a])])
        keeper.unanswered(at(42))
        #expect(keeper.tick(at(46)) == [.renew([a])])
        #expect(keeper.tick(at(59)) == [.cut(a.serial)])
        #expect(keeper.state(of: a.serial) == .lost)
        // An answer that arrives now changes nothing.
        #expect(keeper.renewed([a], of: [a], sent: at(46)) == [])
        #expect(keeper.state(of: a.serial) == .lost && keeper.next == nil)
        keeper.ended(a.serial)
        #expect(keeper.isEmpty)
    }

    @Test func `a renewal gives the safe point more time, and does not take it back`() throws {
        let a = try lease("a")
        var keeper = LeaseKeeper(terms)
        keeper.granted(a, sent: at(0))
        #expect(keeper.tick(at(34)) == [.rest(a.serial), .renew([a])])
        #expect(keeper.renewed([a], of: [a], sent: at(34)) == [])
        #expect(keeper.state(of: a.serial) == .ending(until: at(93)))
        #expect(keeper.tick(at(60)) == [.renew([a])])
    }

    @Test func `who was stopped for longer than the right lasts does nothing more`() throws {
        let (a, b) = (try lease("a"), try lease("b"))
        var keeper = LeaseKeeper(terms)
        keeper.granted(a, sent: at(0))
        keeper.granted(b, sent: at(1))
        // As after SIGSTOP, or when the machine slept: the first action is to cut.
        #expect(keeper.tick(at(200)) == [.cut(a.serial), .cut(b.serial)])
        #expect(keeper.next == nil)
    }

    @Test func `anyone who is fenced off is cut at once`() throws {
        let (a, b) = (try lease("a"), try lease("b"))
        var keeper = LeaseKeeper(terms)
        keeper.granted(a, sent: at(0))
        keeper.granted(b, sent: at(0))
        #expect(keeper.tick(at(15)) == [.renew([a, b])])
        #expect(keeper.renewed([b], of: [a, b], sent: at(15)) == [.cut(a.serial)])
        #expect(keeper.state(of: b.serial) == .held(until: at(74)))
    }

    @Test func `an answer about an older grant does not touch the newer one`() throws {
        let (old, new) = (try lease("a", 4), try lease("a", 5))
        var keeper = LeaseKeeper(terms)
        keeper.granted(old, sent: at(0))
        #expect(keeper.tick(at(15)) == [.renew([old])])
        keeper.ended(old.serial)
        keeper.granted(new, sent: at(16))
        #expect(keeper.renewed([], of: [old], sent: at(15)) == [])
        #expect(keeper.state(of: new.serial) == .held(until: at(75)))
    }
}
