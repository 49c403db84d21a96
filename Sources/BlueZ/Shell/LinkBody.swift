import DBus
import Domain
import Radio

/// One link, or the attempt to make one, with all that belongs to it; touched by the actor `BlueZ`
/// only.
///
/// Nothing of it outlives the link: the next one finds everything afresh.
final class LinkBody {
    let ticket: UInt64
    let lane: AdapterLane
    let generation: Int
    var machine: LinkMachine
    let alarm: Deadline
    /// Who wants the link.
    let wanted = Once<BlueZLink>()
    /// The face of it that callers hold.
    weak var face: BlueZLink?
    /// Whether it was in use once.
    var hasStood = false
    /// Those who wait for its end.
    var enders: [Once<Void>] = []

    var table: [Characteristic: CharacteristicRecord] = [:]
    var requests: [UInt64: PendingRequest] = [:]
    /// One request at a time for each characteristic: the first of these is under way.
    var lines: [ObjectPath: [UInt64]] = [:]
    var writers: [ObjectPath: PacketSocket] = [:]
    var readers: [ObjectPath: PacketSocket] = [:]
    var mailboxes: [ObjectPath: Mailbox<[UInt8]>] = [:]
    /// Those whose notifications come by signals.
    var signalled: Set<ObjectPath> = []
    /// What we listen to or have sockets of, or had a moment ago.
    var used: Set<ObjectPath> = []

    init(
        _ ticket: UInt64,
        _ machine: LinkMachine,
        on lane: AdapterLane,
        generation: Int,
        alarm: Deadline
    ) {
        self.ticket = ticket
        self.machine = machine
        self.lane = lane
        self.generation = generation
        self.alarm = alarm
    }

    func isAbout(_ path: ObjectPath) -> Bool { machine.path == path }

    /// Whether news of the device may be news for it.
    func mayBeAbout(_ path: ObjectPath) -> Bool { machine.path.map { $0 == path } ?? true }

    /// The next moment at which the link or a request on it is due.
    var deadline: Moment? {
        let due = requests.values.compactMap(\.deadline).min()
        return [machine.deadline, due].compactMap { $0 }.min()
    }

    var isDrained: Bool { writers.values.allSatisfy(\.isDrained) }
}

/// A request on a link, from its place in the line to its end; touched by the actor `BlueZ` only.
final class PendingRequest {
    enum Answer: Sendable {
        case values([DBusValue])
        /// There is no socket; another program may have it.
        case doWithout(isLocked: Bool)
    }

    let id: UInt64
    let path: ObjectPath
    let member: String
    let arguments: [DBusValue]
    let limit: Moment
    var machine: RequestMachine
    let outcome = Once<Answer>()
    var hasBegun = false

    init(
        _ id: UInt64,
        _ machine: RequestMachine,
        _ member: String,
        _ arguments: [DBusValue],
        at path: ObjectPath,
        before limit: Moment
    ) {
        self.id = id
        self.machine = machine
        self.member = member
        self.arguments = arguments
        self.path = path
        self.limit = limit
    }

    /// In the line only the caller's own time counts.
    var deadline: Moment? { hasBegun ? machine.deadline : limit }
}
