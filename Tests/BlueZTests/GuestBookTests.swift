import Base
import BlueZ
import Testing

@Suite struct GuestBookTests {
    private static let begin = Moment(nanoseconds: 0)
    private static func after(_ seconds: Int) -> Moment { begin.advanced(by: .seconds(seconds)) }

    private let car = ObjectPath("/org/bluez/hci0/dev_C0_00_00_00_00_07") ?? .root
    private let other = ObjectPath("/org/bluez/hci0/dev_C0_00_00_00_00_08") ?? .root
    private static let connected = GuestBook.Device(isConnected: true)
    private static let bonded = GuestBook.Device(isConnected: true, isBonded: true)
    private static let away = GuestBook.Device(isConnected: false, isBonded: true)

    private func see(
        _ book: inout GuestBook,
        _ path: ObjectPath,
        _ device: GuestBook.Device?,
        at now: Moment = begin
    ) -> [GuestBook.Action] {
        book.changed(path, device, isOurs: false, at: now)
    }

    /// A guest book with the car subscribed and handed out.
    private func visited(_ device: GuestBook.Device = connected) -> GuestBook {
        var book = GuestBook("hci0")
        _ = see(&book, car, device)
        _ = book.subscribes(car)
        #expect(book.handOut() == 1)
        return book
    }

    @Test func `a central arrives when it subscribes, and is handed out once`() {
        var book = GuestBook("hci0")
        #expect(see(&book, car, Self.connected) == [])
        #expect(book.isAwaited && book.isVisited && book.arrival == nil)
        let arrived = book.subscribes(car)
        #expect(arrived?.visit == 1 && arrived?.1 == [.arrived(1)])
        #expect(!book.isAwaited && book.arrival == 1 && !book.isServing)
        let handed = [book.handOut(), book.handOut()]
        #expect(handed == [1, nil])
        #expect(book.isServing)
    }

    @Test func `a second central is not answered while the first is there`() {
        var book = visited()
        #expect(book.subscribes(other) == nil)
        #expect(see(&book, car, nil) == [.end(1), .close(1)])
        let second = book.subscribes(other)
        #expect(second?.visit == 2)
    }

    @Test func `a central that is slow to subscribe is waited for half a minute`() {
        var book = GuestBook("hci0")
        _ = see(&book, car, Self.connected)
        #expect(book.deadline == Self.after(30))
        _ = book.tick(at: Self.after(29)) { "\($0)" }
        #expect(book.isVisited)
        let actions = book.tick(at: Self.after(30)) { "\($0)" }
        #expect(actions == [] && !book.isVisited && book.deadline == nil)
        // The link may be another program's, so a further change of the device means no visit.
        _ = see(&book, car, Self.connected, at: Self.after(31))
        #expect(!book.isVisited)
        // A late subscription is accepted all the same.
        #expect(book.subscribes(car)?.visit == 1)
    }

    @Test func `a link of ours to a module is no visitor`() {
        var book = GuestBook("hci0")
        _ = book.changed(other, Self.connected, isOurs: true, at: Self.begin)
        #expect(!book.isVisited)
    }

    @Test func `the socket of a central goes only when its link is gone`() {
        var book = visited()
        #expect(book.release(1, isConnected: true) == [.end(1), .disconnect(car)])
        #expect(see(&book, car, nil) == [.close(1)])
        #expect(book.released(1, nil) == [.close(1)])
        #expect(!book.isVisited)
    }

    @Test func `a central that hangs its socket up is gone`() {
        var book = visited()
        #expect(book.socketGone(1) == [.end(1), .close(1)])
        #expect(book.socketGone(1) == [])
        #expect(book.release(1, isConnected: true) == [.disconnect(car)])
        #expect(book.subscribes(other)?.visit == 2)
    }

    @Test func `a bonded central that is back and asks for nothing goes on as before`() {
        var book = visited(Self.bonded)
        #expect(see(&book, car, Self.away) == [.end(1)])
        #expect(book.release(1, isConnected: false) == [])
        #expect(book.released(1, Self.away) == [])
        #expect(see(&book, car, Self.bonded, at: Self.after(10)) == [])
        #expect(book.visit(of: car) == 1)
        #expect(book.deadline == Self.after(12))
        let back = book.tick(at: Self.after(12)) { _ in "the car" }
        #expect(
            back == [
                .goOn(1, as: 2),
                .note(.subscriptionRemembered(adapter: "hci0", address: "the car")),
                .arrived(2),
            ]
        )
        #expect(book.handOut() == 2)
    }

    @Test func `a bonded central that subscribes again gets a new socket, and the old one goes`() {
        var book = visited(Self.bonded)
        _ = see(&book, car, Self.away)
        _ = book.released(1, Self.away)
        _ = see(&book, car, Self.bonded, at: Self.after(10))
        #expect(book.subscribes(car)?.visit == 2)
        #expect(book.deadline == nil)
        #expect(see(&book, car, nil) == [.end(2), .close(1), .close(2)])
    }

    @Test func `what a bonded central wrote on a link that is over is forgotten`() {
        var book = visited(Self.bonded)
        _ = see(&book, car, Self.away)
        _ = book.released(1, Self.away)
        _ = see(&book, car, Self.bonded)
        #expect(see(&book, car, Self.away) == [.forgetWrites(1)])
        #expect(book.deadline == nil)
    }

    @Test func `a bond that is gone takes the remembered subscription with it`() {
        var book = visited(Self.bonded)
        _ = see(&book, car, Self.away)
        _ = book.released(1, Self.away)
        #expect(see(&book, car, nil) == [.close(1)])
        #expect(book.visit(of: car) == nil)
    }

    @Test func `a remembered central does not push another one out`() {
        var book = visited(Self.bonded)
        _ = see(&book, car, Self.away)
        _ = book.released(1, Self.away)
        _ = book.subscribes(other)
        _ = see(&book, car, Self.bonded, at: Self.after(1))
        #expect(book.tick(at: Self.after(9)) { "\($0)" } == [])
        #expect(book.arrival == 2)
    }

    @Test func `the end of the service ends every visit and closes every socket`() {
        var book = visited(Self.bonded)
        _ = see(&book, car, Self.away)
        _ = book.released(1, Self.away)
        _ = book.subscribes(other)
        #expect(book.opensWriter(other) == true)
        #expect(book.ended() == [.end(2), .close(2), .close(1), .closeWriter(other)])
        #expect(book.deadline == nil && !book.isVisited)
    }

    @Test func `sockets for writing are bounded`() {
        var book = GuestBook("hci0")
        let opened = (0..<10).map { number in
            book.opensWriter(ObjectPath("/org/bluez/hci0/dev_\(number)") ?? .root)
        }
        #expect(opened.count { $0 } == 8)
        book.writerGone(ObjectPath("/org/bluez/hci0/dev_0") ?? .root)
        #expect(book.opensWriter(other) == true)
    }
}
