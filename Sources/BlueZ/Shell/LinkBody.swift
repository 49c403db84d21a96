import Base
import Radio

/// One link, or the attempt to make one, with all that belongs to it; only the actor `BlueZ` uses
/// it.
///
/// Nothing of it outlives the link: the next link discovers everything again.
final class LinkBody {
    let ticket: UInt64
    let lane: AdapterLane
    let generation: Int
    var machine: LinkMachine
    let alarm: Deadline
    /// The result for the task that requested the link.
    let wanted = Once<BlueZLink>()
    /// The object that callers use.
    weak var face: BlueZLink?
    /// Whether the link was ever in use.
    var hasStood = false
    /// The tasks that wait for its end.
    var enders: [Once<Void>] = []

    var table: [Characteristic: CharacteristicRecord] = [:]
    var requests: [UInt64: PendingRequest] = [:]
    /// The queues of requests, one for each characteristic: the first request of each is running.
    var lines: [ObjectPath: [UInt64]] = [:]
    var writers: [ObjectPath: PacketSocket] = [:]
    var readers: [ObjectPath: PacketSocket] = [:]
    var mailboxes: [ObjectPath: Mailbox<[UInt8]>] = [:]
    /// Characteristics whose notifications arrive as signals.
    var signalled: Set<ObjectPath> = []
    /// Characteristics that we receive notifications from or have sockets for, now or a moment ago.
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

    /// Whether a change of the device may concern this link.
    func mayBeAbout(_ path: ObjectPath) -> Bool { machine.path.map { $0 == path } ?? true }

    /// The next moment at which the link or one of its requests is due.
    var deadline: Moment? {
        let due = requests.values.compactMap(\.deadline).min()
        return [machine.deadline, due].compactMap { $0 }.min()
    }

    var isDrained: Bool { writers.values.allSatisfy(\.isDrained) }
}

/// A request on a link, from its place in the queue to its end; only the actor `BlueZ` uses it.
final class PendingRequest {
    enum Answer: Sendable {
        case values([DBusValue])
        /// There is no socket; if `isLocked`, another program may have it.
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

    var isForNotifySocket: Bool { machine.kind == .acquireNotify }

    /// While the request is in the queue, only the caller's limit applies.
    var deadline: Moment? { hasBegun ? machine.deadline : limit }
}

/// A subscription that a module has accepted.
struct SubscriptionClaim: Hashable {
    private let address: String
    private let characteristic: Characteristic

    init(_ address: String, _ characteristic: Characteristic) {
        self.address = address
        self.characteristic = characteristic
    }
}
