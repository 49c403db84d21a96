package import Base

/// Why this machine cannot begin a vehicle now, when several machines share a rollout.
package enum Waiting: Sendable, Equatable {
    /// Another machine works on it.
    case held(String)
    /// So many are under way that one more could overshoot the gate.
    case full(String)
    /// Another machine hears it better, and it is left to that one for this time.
    case nearer(String, Duration)
    /// This machine does not hear it any more, and it is left to another one for this time.
    case lost(String, Duration)
    /// Its wave has not begun, or no machine may begin it yet.
    case other(String)

    package var sentence: String {
        switch self {
        case .held(let text), .full(let text), .nearer(let text, _), .lost(let text, _),
            .other(let text):
            text
        }
    }
}

/// Vehicles that a run cannot begin now, and when it tries each of them again.
///
/// It is a value without a clock: its methods take what machines do, and return the vehicles that
/// are due.
package struct Parking: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        var until: Moment
        let why: Waiting
    }

    /// How long a vehicle waits when nothing shorter is known.
    static let pause = Duration.seconds(15)

    private var entries: [Int: Entry] = [:]
    /// The vehicles that were asked about for the next look.
    private var asked: Set<Int> = []
    /// How many vehicles other machines worked on at the last look.
    private var busyCount: Int?

    package init() {}

    package func has(_ vehicle: Int) -> Bool { entries[vehicle] != nil }

    package mutating func park(_ vehicle: Int, _ why: Waiting, at now: Moment) {
        let pause: Duration =
            switch why {
            case .nearer(_, let left), .lost(_, let left): min(left, Self.pause)
            case .held, .full, .other: Self.pause
            }
        entries[vehicle] = Entry(until: now.advanced(by: pause), why: why)
    }

    package mutating func leave(_ vehicle: Int) { entries[vehicle] = nil }

    /// What the next look is to answer: which of these vehicles other machines work on, and whether it counts all that
    /// they work on.
    package mutating func ask() -> (vehicles: [Int], counts: Bool) {
        asked = []
        var counts = false
        for (vehicle, entry) in entries {
            switch entry.why {
            case .held: asked.insert(vehicle)
            case .full: counts = true
            case .nearer, .lost, .other: break
            }
        }
        return (asked.sorted(), counts)
    }

    /// Takes those of the vehicles that were asked about that other machines work on, how many these work on, and those
    /// that they leave to this one.
    ///
    /// Vehicles that are left to this machine are due immediately. So are those that no machine
    /// works on any more, and those that wait for a place at the gate when there may be one.
    package mutating func look(
        busy: Set<Int>,
        count: Int?,
        favoured: Set<Int> = [],
        hasEnds: Bool,
        at now: Moment
    ) {
        var hasRoom = hasEnds
        if let count, let busyCount { hasRoom = hasRoom || count < busyCount }
        busyCount = count
        for (vehicle, entry) in entries {
            if favoured.contains(vehicle) {
                entries[vehicle]?.until = now
                continue
            }
            switch entry.why {
            case .held where asked.contains(vehicle):
                entries[vehicle]?.until =
                    busy.contains(vehicle) ? now.advanced(by: Self.pause) : now
            case .full: if hasRoom { entries[vehicle]?.until = now }
            case .held, .nearer, .lost, .other: break
            }
        }
    }

    /// A vehicle of this machine has ended: there may be a place at the gate.
    package mutating func ended(at now: Moment) {
        for (vehicle, entry) in entries {
            switch entry.why {
            case .full: entries[vehicle]?.until = now
            case .held, .nearer, .lost, .other: break
            }
        }
    }

    /// Vehicles that are tried again now, in their order, and why they waited.
    package mutating func due(at now: Moment) -> [(vehicle: Int, why: Waiting)] {
        let due = entries.filter { $0.value.until <= now }.sorted { $0.key < $1.key }
        for (vehicle, _) in due { entries[vehicle] = nil }
        return due.map { ($0.key, $0.value.why) }
    }
}
