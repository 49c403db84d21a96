import Base

/// Some nights of a depot as a value: the depot, the plan, and the incidents.
///
/// A seed makes one, a failing one is made smaller, and its text is a test
/// (`Tests/NightsTests/Stories`).
package struct NightStory: Codable, Sendable, Equatable {
    /// The seed of all chance in the simulation.
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

    // MARK: The depot

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
        /// Whether it has settings that a step can write, and can move.
        package var isComodule: Bool { self == .bike || self == .van }
    }

    package struct Vehicle: Codable, Sendable, Equatable {
        package var kind: Kind
        package var steps: [Step]
        /// The faults of its module, or of its GO device when it has no module, in the form of a
        /// depot's file.
        package var faults: [String] = []
        /// Whether it is in the plan from the beginning.
        package var isListed = true

        package init(_ kind: Kind, _ steps: [Step], faults: [String] = []) {
            self.kind = kind
            self.steps = steps
            self.faults = faults
        }
    }

    package enum Step: Codable, Sendable, Hashable {
        /// That the vehicle stands still; `otherwise` is the outcome when it does not.
        case require(otherwise: String)
        case update
        case lights(String)
        /// Words of commands, as in a manifest.
        case command([String])
        /// A feature of a lock, with its value.
        case feature(String, String)
        /// The name of a property, and a condition.
        case expect(String, String)
        case read(String)
        case wait(seconds: Int)

        /// The entry in the module's record after the step was carried out; nil for steps that may
        /// be repeated.
        package var deed: String? {
            switch self {
            case .command(let words):
                words.allSatisfy { Self.harmless.contains($0) }
                    ? nil : words.joined(separator: "+")
            case .feature(let name, _): Self.requests[name]
            case .require, .update, .lights, .expect, .read, .wait: nil
            }
        }

        /// Whether vehicles of a kind can do the step.
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
        package var isRequirement: Bool {
            if case .require = self { true } else { false }
        }

        /// Whether the step changes nothing.
        package var onlyReads: Bool {
            switch self {
            case .require, .expect, .read, .wait: true
            case .update, .lights, .command, .feature: false
            }
        }

        private static let harmless = ["lock", "ignition-inhibit", "secure-conditions-check"]
        /// The number of the request, by the name of the feature.
        private static let requests = [
            "auto-lock": "0x0301", "lock": "0x0204", "led": "0x0105", "name": "0x0101",
        ]
    }

    // MARK: The policy

    package struct Policy: Codable, Sendable, Equatable {
        package var waves: [Int] = []
        /// The number of failures that the gate allows; nil without a gate.
        package var gate: Int?
        package var again = "when-asked"
        package var window: Window?
        package var adapters = 1
        /// The most links of an adapter, with which it begins.
        package var links = 1
        package var takesTurns = true
        /// The longest airtime of one vehicle, in seconds.
        package var airtime: Int?
        package var transient = 4
        package var device = 1
        package var quarantine: Int?
        /// The steps at the end of each execution, where all vehicles can do them.
        package var always: [Step] = []
        /// Whether the gate aborts.
        package var aborts = false
        /// Whether a person must approve each further wave.
        package var asks = false
        /// The release that the operator's program finds unwell, if any; nil when updates have no
        /// judge.
        package var judge: Int?
        /// Who has which key file; nil when nobody changes keys.
        package var keys: Keys?
        /// Seconds that a wave soaks.
        package var soak: Int?
        /// Whether a program decides on each further wave.
        package var checks: Bool?
        /// How many links an adapter keeps up; nil for all.
        package var steadyLinks: Int?
        /// Whether lights are silent while they erase, for longer than their link lasts.
        package var erasesSilently: Bool?

        package init() {}
    }

    /// The key files of vehicles of family `comodule`: one for each, or one for all.
    package enum Keys: String, Codable, Sendable { case own, shared }

    /// The time in which vehicles may be begun, in UTC.
    package struct Window: Codable, Sendable, Equatable {
        /// The beginning, in minutes of the day.
        package var from: Int
        package var minutes: Int
        /// The treatment of vehicles in work when the window closes.
        package var close = "finish"
        /// The days of the week on which it does not open; Monday is 0.
        package var closed: [Int]?
        /// The beginning for the vehicles of one family, as long as for the others.
        package var own: Own?

        package struct Own: Codable, Sendable, Equatable {
            package var kind: Kind
            package var from: Int
        }

        package init(from: Int, minutes: Int) {
            self.from = from
            self.minutes = minutes
        }
    }

    // MARK: Nights

    package struct Night: Codable, Sendable, Equatable {
        /// The seconds that pass before the night.
        package var pause = 3_600
        /// The seconds by which the wall clock is set forward, or back.
        package var clock = 0
        package var edits: [Edit] = []
        package var words: [Word] = []
        package var start = Start.run
        package var incidents: [Incident] = []
        /// Another program, with its own journal, that works in the depot at the same time.
        package var rival: Rival?
        /// Whether people give their verbs as another user, without a directory.
        package var isElsewhere: Bool?

        package init() {}
    }

    /// A second program that updates some vehicles over the same adapters.
    package struct Rival: Codable, Sendable, Equatable {
        package var vehicles: [Int]
        /// The beginning of its work, in seconds after the run.
        package var second: Int

        package init(_ vehicles: [Int], second: Int) {
            self.vehicles = vehicles
            self.second = second
        }
    }

    /// A change in the files or in the depot between two nights.
    package enum Edit: Codable, Sendable, Equatable {
        case newImages
        /// New images, and the ones before are denied.
        case recall
        case steps(vehicle: Int, [Step])
        case remove(Int)
        case add(Int)
        case rename(String)
        case drives(Int)
        case stands(Int)
        case leaves(Int)
        case returns(Int)
        /// A person rehearses the change of this vehicle's key.
        case rehearse(Int)
        /// A person rehearses the rollout, and pastes the command that is offered then.
        case paste
        /// A vehicle gets an id that none has had; a person says so with `vehicle renamed`, or does
        /// not.
        case called(Int, isSaid: Bool)
        /// Two vehicles get each other's ids, and a person says so.
        case exchanged(Int, Int)
        /// A vehicle gets another module, a new one; the next time it gets the one before again.
        case refitted(Int)
        /// Two vehicles get each other's modules, and a person says so with `vehicle moved`, or does not.
        case swapped(Int, Int, isSaid: Bool)
        /// Somebody starts a run of a list that has the module of the first vehicle in the second one's row, too.
        case twin(Int, Int)
        /// A person gives a vehicle another key, and the process dies after this many writes.
        case enrol(Int, writes: Int)
        /// A person puts back the journal as it was so many nights ago, or the empty one.
        case restore(nights: Int)
        /// A person says `accept-restore`.
        case accept
    }

    /// A request of a person.
    package enum Word: Codable, Sendable, Hashable {
        case pause, resume, abort, retryAll, inhibitDepot, uninhibitDepot, clearDepot
        case retry(Int)
        case inhibit(Int)
        case uninhibit(Int)
        case clear(Int)
        /// The images of the files as they are now are recalled; and all recalls are lifted.
        case recallImages, liftRecalls
    }

    package enum Start: Codable, Sendable, Equatable {
        case run
        case again
        case limit([Int])
        case exec(vehicle: Int, [Step])
        /// `secrets rotate`; with a split first, when that is asked for.
        case rotate(splits: Bool)
        /// The vehicles of the rollout are brought back to what they ran before it.
        case rollback
        /// No run is started.
        case none
    }

    /// An incident in a run.
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
        /// This many seconds after the run began.
        case second(Int)
        /// At the next use of a radio after vehicles have entered this state this many times.
        case state(String, Int)
        /// After this many transactions of the journal: only for `kill`, `power` and
        /// `refusedWrite`.
        case write(Int)
    }

    package enum Event: Codable, Sendable, Equatable {
        /// Our process dies.
        case kill
        /// The machine loses its power: data of the journal that was not durable is lost.
        case power
        /// The disk refuses one write of the journal.
        case refusedWrite
        /// The adapter with this number is gone for this many seconds.
        case adapterGone(Int, seconds: Int)
        /// The Bluetooth service is gone for this many seconds.
        case serviceGone(seconds: Int)
        /// Our process gets INT or TERM.
        case stop
        case clock(Int)
        case say(Word)
        /// Our process is stopped for this many seconds, and then continues.
        case suspended(seconds: Int)
        // Only for a gateway of a fleet:
        /// The gateway does not reach the fleet's database for this many seconds.
        case cutOff(seconds: Int)
        /// The answer to its next statement to the database is lost.
        case answerLost
        /// No gateway reaches the database for this many seconds, and all sessions are lost.
        case databaseAway(seconds: Int)
    }
}
