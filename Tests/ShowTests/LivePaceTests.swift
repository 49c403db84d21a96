import Base
import Store
import Testing

@testable import Rollout
@testable import Show

/// The estimate of the work that is left, as a terminal shows it.
@Suite struct LivePaceTests {
    @Test(arguments: [1, 4, 8])
    func `the first estimate fits however many links work at once`(links: Int) throws {
        let (all, each) = (40, 60)
        var bodies: [(Int, Event.Body)] = []
        for number in 0..<all {
            let id = try Sample.vehicle("v\(number)")
            // Links do not keep in step.
            let begin = number / links * each * 1_000 + number % links * 1_500
            let serial = try #require(Serial("0a0b01"))
            bodies.append((begin, .attemptStarted(id, serial: serial, attempt: 1, position: 1)))
            let verdict = Verdict(
                outcome: .succeeded,
                message: "done",
                attempts: 1,
                bytesSent: .zero,
                took: .seconds(each)
            )
            bodies.append((begin + each * 1_000 - 1, .vehicleEnded(id, verdict)))
        }
        var pace = LivePace()
        var first: (left: Duration, at: WallTime)?
        let events = Sample.events(bodies.sorted { $0.0 < $1.0 })
        for event in events {
            pace.note(event, isWorking: true)
            if first == nil, let left = pace.left(of: all) { first = (left, event.time) }
        }
        let told = try #require(first)
        let took = told.at.duration(to: try #require(events.last?.time))
        let ratio = Double(told.left.nanoseconds) / Double(took.nanoseconds)
        #expect((0.8...1.25).contains(ratio), "\(told.left.brief) left, and it took \(took.brief)")
    }
}
