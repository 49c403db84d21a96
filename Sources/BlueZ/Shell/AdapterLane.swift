import Base
import Radio

/// One adapter by the operator's name for it; only the actor `BlueZ` uses it.
final class AdapterLane {
    let word: String
    var machine: AdapterMachine
    /// The current scans.
    var scans: [AdapterMachine.Ticket: ScanUser] = [:]
    let alarm: Deadline
    /// The generation in which this adapter was checked for links of earlier runs.
    var swept: Int?

    init(_ word: String, rules: AdapterMachine.Rules, alarm: Deadline) {
        self.word = word
        machine = AdapterMachine(word, rules: rules)
        self.alarm = alarm
    }
}

/// One scan, with its filter and its mailbox.
struct ScanUser {
    let filter: ScanFilter
    let mailbox: Mailbox<Advertisement>
}
