import Domain

/// Some nights of a depot as a value: what is there, what is wanted, and what goes wrong.
///
/// A seed makes one, a failing one is made smaller, and its text is a test (`Tests/NightsTests/Stories`).
package struct NightStory: Codable, Sendable, Equatable {
    /// Of all chance in the simulation.
    package var seed: UInt64
    package var vehicles: [Vehicle]
    package var policy = Policy()
    package var nights: [Night]

    package init(seed: UInt64, vehicles: [Vehicle], policy: Policy = Policy(), nights: [Night]) {
        self.seed = seed
        self.vehicles = vehicles
        self.policy = policy
        self.nights = nights
    }

    // MARK: What is there

    /// A kind of vehicle: a family of modules, or a module with a GO device beside it.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// Family `comodule`.
        case bike
        /// Family `comodule` and a GO device.
        case van
        /// A GO device alone.
        case car
        /// Family `lrdevice`.
        case lock
        /// Family `mcumgr`.
        case light
        /// Family `nordic`, Secure DFU and legacy DFU.
        case tag, oldTag
        /// Family `esp`.
        case sensor

        package var hasModule: Bool { self != .car }
        package var hasCommands: Bool { self == .car || self == .van }
        package var hasUpdates: Bool { self != .car && self != .lock }
        /// Whether it has settings that a step can write, and moves.
        package var isComodule: Bool { self == .bike || self == .van }
    }

    package struct Vehicle: Codable, Sendable, Equatable {
        package var kind: Kind
        package var steps: [Step]
        /// Of its module, or of its GO device where that is all it has; as a depot's file has them.
        package var faults: [String] = []
        /// It is in the plan from the beginning.
        package var isListed = true

        package init(_ kind: Kind, _ steps: [Step], faults: [String] = []) {
            self.kind = kind
            self.steps = steps
            self.faults = faults
        }
    }

    package enum Step: Codable, Sendable, Hashable {
        /// That it stands still; else what is given here.
        case require(otherwise: String)
        case update
        case lights(String)
        /// Of words that a manifest knows.
        case command([String])
        /// Of a lock, with its value.
        case feature(String, String)
        /// A property and a condition.
        case expect(String, String)
        case read(String)
        case wait(seconds: Int)

        /// What a module keeps of it when it was carried out; nil for what may be repeated.
        package var deed: String? {
            switch self {
            case .command(let words):
                words.allSatisfy { Self.harmless.contains($0) }
                    ? nil : words.joined(separator: "+")
            case .feature(let name, _): Self.requests[name]
            case .require, .update, .lights, .expect, .read, .wait: nil
            }
        }

        /// Whether vehicles of a kind can do it.
        package func suits(_ kind: Kind) -> Bool {
            switch self {
            case .require, .lights: kind.isComodule
            case .update: kind.hasUpdates
            case .command: kind.hasCommands
            case .feature, .expect: kind == .lock
            case .read: kind.isComodule || kind == .lock
            case .wait: true
            }
        }
        /// Whether it changes nothing.
        package var onlyReads: Bool {
            switch self {
            case .require, .expect, .read, .wait: true
            case .update, .lights, .command, .feature: false
            }
        }

        private static let harmless = ["lock", "ignition-inhibit", "secure-conditions-check"]
        /// By the name of the feature.
        private static let requests = [
            "auto-lock": "0x0301", "lock": "0x0204", "led": "0x0105", "name": "0x0101",
        ]
    }

    // MARK: What is wanted

    package struct Policy: Codable, Sendable, Equatable {
        package var waves: [Int] = []
        /// How many failures the gate allows; nil without a gate.
        package var gate: Int?
        package var again = "when-asked"
        package var window: Window?
        package var adapters = 1
        package var links = 1
        package var takesTurns = true
        /// Seconds that one vehicle may have.
        package var airtime: Int?
        package var transient = 4
        package var device = 1
        package var quarantine: Int?
        /// What is done at the end whatever happened, where all vehicles can do it.
        package var always: [Step] = []
        /// Whether the gate aborts.
        package var aborts = false
        /// Whether a person is asked between two waves.
        package var asks = false

        package init() {}
    }

    /// When vehicles may be begun, in UTC.
    package struct Window: Codable, Sendable, Equatable {
        /// Minutes of the day.
        package var from: Int
        package var minutes: Int
        /// What becomes of who is under way when it closes.
        package var close = "finish"

        package init(from: Int, minutes: Int) {
            self.from = from
            self.minutes = minutes
        }
    }

    // MARK: What happens

    package struct Night: Codable, Sendable, Equatable {
        /// Seconds that pass first.
        package var pause = 3_600
        /// Seconds that the clock on the wall is set forward, or back.
        package var clock = 0
        package var edits: [Edit] = []
        package var words: [Word] = []
        package var start = Start.run
        package var incidents: [Incident] = []
        /// Another program, with a journal of its own, that is at work on the depot meanwhile.
        package var rival: Rival?

        package init() {}
    }

    /// A second program that updates some vehicles, over the same adapters.
    package struct Rival: Codable, Sendable, Equatable {
        package var vehicles: [Int]
        /// When it begins, in seconds after the run.
        package var second: Int

        package init(_ vehicles: [Int], second: Int) {
            self.vehicles = vehicles
            self.second = second
        }
    }

    /// What changes in the files and in the depot between two nights.
    package enum Edit: Codable, Sendable, Equatable {
        case newImages
        case steps(vehicle: Int, [Step])
        case remove(Int)
        case add(Int)
        case rename(String)
        case drives(Int)
        case stands(Int)
        case leaves(Int)
        case returns(Int)
    }

    /// What a person says.
    package enum Word: Codable, Sendable, Hashable {
        case pause, resume, abort, retryAll, inhibitDepot, uninhibitDepot, clearDepot
        case retry(Int)
        case inhibit(Int)
        case uninhibit(Int)
        case clear(Int)
    }

    package enum Start: Codable, Sendable, Equatable {
        case run
        case again
        case limit([Int])
        case exec(vehicle: Int, [Step])
        /// Nobody starts one.
        case none
    }

    /// Something that happens in a run.
    package struct Incident: Codable, Sendable, Equatable {
        package var at: Place
        package var what: Event

        package init(_ what: Event, at: Place) {
            self.at = at
            self.what = what
        }
    }

    package enum Place: Codable, Sendable, Equatable {
        /// At this use of a radio, counted from 1.
        case use(Int)
        /// So many seconds after the run began.
        case second(Int)
        /// At the next use of a radio after some vehicle has come into this state for this many times.
        case state(String, Int)
        /// After so many transactions of the journal: for `kill`, `power` and `refusedWrite` alone.
        case write(Int)
    }

    package enum Event: Codable, Sendable, Equatable {
        /// Our process dies.
        case kill
        /// So does the machine: what the journal has not made durable is lost.
        case power
        /// The disk refuses one write of the journal.
        case refusedWrite
        /// The adapter with this number is gone for so many seconds.
        case adapterGone(Int, seconds: Int)
        /// So is the Bluetooth service.
        case serviceGone(seconds: Int)
        /// INT or TERM.
        case stop
        case clock(Int)
        case say(Word)
        /// Our process is stopped for so many seconds, and then goes on.
        case suspended(seconds: Int)
        // Of a gateway of a fleet alone:
        /// It does not reach the fleet's database for so many seconds.
        case cutOff(seconds: Int)
        /// The answer to its next statement there is lost.
        case answerLost
        /// Nobody reaches the database for so many seconds, and all sessions are lost.
        case databaseAway(seconds: Int)
    }
}
