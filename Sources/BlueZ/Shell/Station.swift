import DBus
import Domain
import Radio

/// What is served from an adapter in our name; touched by the actor `BlueZ` only.
final class Station {
    let id: UInt64
    let word: String
    var machine: StationMachine
    let alarm: Deadline
    /// Whether centrals may pair with us here.
    let bond: BondPolicy
    let tell: (StationEvent) -> Void

    /// What the numbers of the machine stand for.
    var table: (number: Int, ServedTable)?
    var advertisement: (number: Int, AdvertisedFace)?
    /// What is on the bus.
    var tableObjects: (root: ObjectPath, paths: [ObjectPath])?
    var advertisementObject: ObjectPath?
    private var lastNumber = 0
    /// Names the call that is under way.
    var lastCall: UInt64?
    /// Whether the adapter was there and on when it was looked at last.
    var isUsable = true
    var centrals: Set<ObjectPath> = []
    /// Set while it is being closed.
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
