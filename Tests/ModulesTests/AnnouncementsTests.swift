import Testing

@testable import VehicleModules

/// Events that are sent to many receivers.
@Suite struct AnnouncementsTests {
    @Test func `who is slow keeps the newest, and hears how many are gone`() async {
        let announcements = Announcements<Int>()
        let (slow, missed) = announcements.values(keeping: 20)
        for number in 1...100_000 { announcements.send(number) }
        var heard: [Int] = []
        for await number in slow {
            heard.append(number)
            if heard.count == 1 { #expect(missed.take() == 99_980) }
            if number == 100_000 { break }
        }
        #expect(heard == Array(99_981...100_000))
        #expect(missed.take() == 0)
    }

    @Test func `each hears all, in one order, from when it began to listen`() async {
        let announcements = Announcements<Int>()
        let first = announcements.values(keeping: 8).stream
        announcements.send(1)
        let second = announcements.values(keeping: 8).stream
        announcements.send(2)
        announcements.send(3)
        var heard: [[Int]] = [[], []]
        for await number in first {
            heard[0].append(number)
            if number == 3 { break }
        }
        for await number in second {
            heard[1].append(number)
            if number == 3 { break }
        }
        #expect(heard == [[1, 2, 3], [2, 3]])
    }

    @Test func `who has gone is remembered no more`() async {
        let announcements = Announcements<Int>()
        do {
            let listener = announcements.values(keeping: 1).stream
            #expect(announcements.listenerCount == 1)
            announcements.send(1)
            for await _ in listener { break }
        }
        #expect(announcements.listenerCount == 0)
        announcements.send(2)
    }
}
