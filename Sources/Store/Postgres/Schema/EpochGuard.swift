/// The identity of a database now, and its identity as recorded when rights were last granted.
package struct FleetHistory: Sendable, Equatable {
    /// The system identifier, which a server gets when its data directory is created.
    package let recordedSystem: String
    package let system: String
    /// Eight hex digits; different after a standby took over or a backup was brought forward.
    package let recordedTimeline: String
    package let timeline: String
    /// Whether the table of modules is the one that was created then, and not one of a dump.
    package let isSameTable: Bool
    /// Raised by a person after each restore.
    package let generation: Int
    /// How long no right may be granted yet, by the server's clock.
    package let wait: Duration
    /// The gateways at work that have not yet reported again what this database may have lost.
    package let awaited: String?
    /// The same with those whose sign-in it may have lost: until then nothing is done that must be done once.
    package let unheard: String?

    package init(
        recordedSystem: String,
        system: String,
        recordedTimeline: String,
        timeline: String,
        isSameTable: Bool,
        generation: Int,
        wait: Duration,
        awaited: String? = nil,
        unheard: String? = nil
    ) {
        self.recordedSystem = recordedSystem
        self.system = system
        self.recordedTimeline = recordedTimeline
        self.timeline = timeline
        self.isSameTable = isSameTable
        self.generation = generation
        self.wait = wait
        self.awaited = awaited
        self.unheard = unheard
    }
}

/// Decides whether a database may grant rights: one that went back in time would grant epochs twice.
package enum EpochGuard: Sendable, Equatable {
    case open
    /// Not yet: holders of rights that this database has lost must have released them first.
    case waits(Duration)
    /// Not before these gateways have reported again what was lost.
    case awaits(String)
    /// Another server took over; the first gateway that notices records it, and all gateways wait.
    case movedOn(from: String, to: String)
    /// A backup: a person must confirm that it is to be used.
    case restored(String)

    /// `known` is the highest generation that this gateway has seen; nil when it has seen none.
    package init(_ history: FleetHistory, known: Int?) {
        if history.recordedSystem != history.system {
            self = .restored("its tables come from another server")
        } else if !history.isSameTable {
            self = .restored("its tables come from a dump")
        } else if let known, known > history.generation {
            self = .restored(
                "this gateway has seen its generation \(known), and now it is \(history.generation)"
            )
        } else if history.recordedTimeline != history.timeline {
            self = .movedOn(from: history.recordedTimeline, to: history.timeline)
        } else if history.wait > .zero {
            self = .waits(history.wait)
        } else if let awaited = history.awaited {
            self = .awaits(awaited)
        } else {
            self = .open
        }
    }
}
