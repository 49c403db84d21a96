import Base
import Radio

/// Our registrations at an adapter; only the actor `BlueZ` uses it.
final class Station {
    let id: UInt64
    let word: String
    var machine: StationMachine
    let alarm: Deadline
    /// The bond policy for centrals at this station.
    let bond: BondPolicy
    let tell: (StationEvent) -> Void

    /// The values for the machine's numbers.
    var table: (number: Int, ServedTable)?
    var advertisement: (number: Int, AdvertisedFace)?
    /// The objects that are exported on the bus.
    var tableObjects: (root: ObjectPath, paths: [ObjectPath])?
    var advertisementObject: ObjectPath?
    private var lastNumber = 0
    /// Identifies the current call.
    var lastCall: UInt64?
    /// Whether the adapter was present and on at the last check.
    var isUsable = true
    var centrals: Set<ObjectPath> = []
    /// Set while the station is being closed.
    var closing: Once<Void>?

    init(
        _ id: UInt64,
        _ word: String,
        round: Duration?,
        bond: BondPolicy,
        alarm: Deadline,
        tell: @escaping (StationEvent) -> Void
    ) {
        self.id = id
        self.word = word
        machine = StationMachine(word, round: round)
        self.alarm = alarm
        self.bond = bond
        self.tell = tell
    }

    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
