import Base

/// Any text is openings and rules for days, or it is refused; what is read is written so that the same is read again.
///
/// The lines are openings, and the last one is the days on which nothing opens.
func fuzzCalendar(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes.prefix(2_000), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    let openings = lines.prefix(8).compactMap { try? Opening($0) }
    for opening in openings {
        guard (try? Opening(opening.description)) == opening else {
            fatalError("\(opening) is another opening")
        }
    }
    let freezes = lines.last.flatMap { try? DayRule.list($0.lowercased()) } ?? []
    let times = OpenTimes(openings, not: Array(freezes.prefix(8)), zone: .utc)
    let now = WallTime(milliseconds: 1_774_755_000_000)
    let next = times.next(3, after: now)
    guard next.allSatisfy({ now < $0.opens && $0.opens < $0.closes }),
        zip(next, next.dropFirst()).allSatisfy({ $0.closes < $1.opens })
    else { fatalError("the next openings are in no order") }
    switch times.state(at: now) {
    case .open(let until): precondition(until > now)
    case .closed(let opens): precondition(opens == next.first?.opens)
    }
    _ = times.day(of: now)
    _ = Zone.utc.next(lines.first ?? "", after: now)
}
