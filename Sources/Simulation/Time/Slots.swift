/// Stores things by ticket, and reuses the places of things that were taken.
struct Slots<Thing> {
    /// The number of the current ticket of each place.
    private var numbers: [UInt64] = []
    private var things: [Thing?] = []
    private var free: [Int] = []
    private var nextNumber: UInt64 = 0

    /// The number of an empty place.
    private static var nobody: UInt64 { .max }

    mutating func put(_ thing: Thing) -> SlotTicket {
        let number = nextNumber
        nextNumber += 1
        guard let place = free.popLast() else {
            things.append(thing)
            numbers.append(number)
            return SlotTicket(place: things.count - 1, number: number)
        }
        things[place] = thing
        numbers[place] = number
        return SlotTicket(place: place, number: number)
    }

    func holds(_ ticket: SlotTicket) -> Bool { numbers[ticket.place] == ticket.number }

    /// Takes a thing; nil when it was taken before.
    mutating func take(_ ticket: SlotTicket) -> Thing? {
        guard holds(ticket) else { return nil }
        numbers[ticket.place] = Self.nobody
        free.append(ticket.place)
        return things[ticket.place].take()
    }

    subscript(_ ticket: SlotTicket) -> Thing? {
        get { holds(ticket) ? things[ticket.place] : nil }
        set { if holds(ticket) { things[ticket.place] = newValue } }
    }

    /// All things, in the order in which they were put.
    var all: [Thing] {
        zip(numbers, things).filter { $0.0 != Self.nobody }.sorted { $0.0 < $1.0 }
            .compactMap { $0.1 }
    }
}

extension Slots: Sendable where Thing: Sendable {}

/// Identifies one thing in a `Slots`.
package struct SlotTicket: Hashable, Sendable {
    let place: Int
    /// Increases: of two tickets, the one with the smaller number is older.
    let number: UInt64
}
