import Base
import Rollout
import Show
import Store
import Testing

/// Events that are read back from the lines in which they were written.
@Suite struct EventReaderTests {
    private func roundTrip(_ bodies: [Event.Body]) throws -> [Event.Body?] {
        var line = EventLine()
        return try Sample.events(bodies.map { (0, $0) }).map { event in
            let json = try JSONValue(json: line.line(event))
            return EventReader.body(kind: event.body.kind, vehicle: event.body.vehicle, json)
        }
    }

    @Test func `every kind of the sample comes back as it was, but for progress`() throws {
        let bodies = try Sample.full().map(\.body)
        for (body, read) in zip(bodies, try roundTrip(bodies)) {
            if case .progress = body {
                #expect(read == nil)
            } else {
                #expect(read == body)
            }
        }
    }

    @Test func `what the sample lacks comes back too`() throws {
        let (a, b) = (try Sample.vehicle("a"), try Sample.vehicle("b"))
        var end = Sample.end([.succeeded: 2], took: .milliseconds(1_234))
        end.adapters = [AdapterUse(name: "hci0", busy: .milliseconds(501))]
        end.adapters[0].linked = .seconds(3)
        end.adapters[0].aired = .seconds(2)
        end.adapters[0].spans = [
            AdapterUse.Span(from: .zero, to: .milliseconds(250)),
            AdapterUse.Span(from: .seconds(2), to: .milliseconds(2_251)),
        ]
        var bodies: [Event.Body] = [
            .runStarted(
                RunStart(
                    rollout: "r",
                    plan: try #require(SHA256Digest(String(repeating: "ab", count: 32))),
                    vehicles: 2,
                    adapters: [],
                    run: 1,
                    seed: .max
                )
            ),
            .stateChanged(a, .acting, adapter: nil, detail: nil),
            .inspected(a, version: nil, facts: []),
            .stepEnded(a, StepResult(2, "command: lock", .inDoubt, facts: [Fact("x", "ü\"\n")])),
            .vehicleEnded(
                b,
                Verdict(
                    outcome: .deferred,
                    message: "m",
                    attempts: 1,
                    bytesSent: .zero,
                    took: .milliseconds(7),
                    problems: [Problem(check: "speed", measured: "3", required: "== 0")]
                )
            ),
            .notice(Notice(.replaced, wave: 1, of: 3, vehicle: a, vehicles: [b], "is away")),
            .runEnded(end),
        ]
        bodies += Notice.Kind.allCases.map { .notice(Notice($0, "said")) }
        #expect(try roundTrip(bodies) == bodies.map { $0 })
    }

    @Test(arguments: [
        ("run-started", "{}"), ("run-started", #"{"rollout":"r","plan":"x","vehicles":-1}"#),
        ("vehicle-ended", #"{"outcome":"splendid","message":"m","seconds":1}"#),
        ("vehicle-ended", #"{"outcome":"failed","message":"m","seconds":1e300}"#),
        ("state-changed", #"{"state":"dreaming"}"#), ("retrying", #"{"class":"device"}"#),
        ("run-ended", #"{"rollout":"r","seconds":1,"exit":{"code":"0","reason":"r"}}"#),
        ("wave-began", #"{"wave":1}"#), ("made-up-later", #"{"message":"m"}"#),
        ("problem", "[]"), ("step-ended", "null"), ("interrupted", #"{"count":1}"#),
        ("attempt-started", #"{"serial":"","attempt":1,"position":1}"#),
        ("image-ready", #"{"image":"i","sha256":"ff","bytes":1}"#), ("warning", "{}"),
    ])
    func `a line that lacks what its kind needs is not guessed at`(
        kind: String,
        text: String
    ) throws {
        let vehicle = try Sample.vehicle("v")
        let json = try JSONValue(json: text)
        #expect(EventReader.body(kind: kind, vehicle: vehicle, json) == nil)
        #expect(EventReader.body(kind: kind, vehicle: nil, json) == nil)
    }

    @Test func `counts that nobody could have counted are added up all the same`() throws {
        let most = Int64.max
        let text = #"{"unfinished":\#(most),"failed":\#(most),"rejected":\#(most),"succeeded":-5}"#
        let counts = try #require(VehicleCounts(text: text))
        #expect(counts.total == .max && counts.count(.failed) == .max)
        #expect(VehicleCounts(text: #"{"unfinished":2,"failed":1}"#)?.total == 3)
    }

    @Test func `a run is told again, vehicle by vehicle`() throws {
        var told = RunHistory()
        for event in try Sample.full() {
            if case .progress = event.body { continue }
            told.note(event)
        }
        told.note(raw: "{\"kind\":\"later\"}", of: nil, at: Sample.start)
        try Golden.expect(told.text, equals: "history.txt")
    }
}
