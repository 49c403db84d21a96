import DBus
import Domain
import Radio

/// One adapter by the operator's word for it; touched by the actor `BlueZ` only.
final class AdapterLane {
    let word: String
    var machine: AdapterMachine
    /// Those who scan.
    var scans: [AdapterMachine.Ticket: ScanUser] = [:]
    let alarm: Deadline
    /// The generation in which links of earlier runs were looked for here.
    var swept: Int?

    init(_ word: String, rules: AdapterMachine.Rules, alarm: Deadline) {
        self.word = word
        machine = AdapterMachine(word, rules: rules)
        self.alarm = alarm
    }
}

/// One who scans, with what is kept for it.
struct ScanUser {
    let filter: ScanFilter
    let mailbox: Mailbox<Advertisement>
}
