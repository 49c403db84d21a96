import Domain

/// Something that goes wrong by script, so many times.
protocol ScriptedFault {
    associatedtype Kind
    var kind: Kind { get }
    var times: Int { get }
}

/// A simulated module with faults by script, which happen as often as its plan says.
protocol FaultyModule: AnyObject {
    associatedtype Fault: ScriptedFault
    var scriptedFaults: [Fault] { get }
    /// How often each has happened; part of what the module keeps.
    var faultCounts: [UInt8] { get set }
    func save()
}

extension FaultyModule {
    func isLeft(_ fault: Int) -> Bool { Int(faultCounts[fault]) < scriptedFaults[fault].times }

    func count(_ fault: Int) {
        if faultCounts[fault] < .max { faultCounts[fault] += 1 }
        save()
    }

    /// Counts the first fault that is left and that `pick` makes something of.
    func strike<R>(_ pick: (Fault.Kind) -> R?) -> R? {
        let faults = scriptedFaults
        // Asked several times with every packet, and nearly every module has none.
        guard !faults.isEmpty else { return nil }
        for (index, fault) in faults.enumerated() where isLeft(index) {
            guard let found = pick(fault.kind) else { continue }
            count(index)
            return found
        }
        return nil
    }

    /// Counts the first fault of this kind that is left; false when there is none.
    func happens(_ kind: (Fault.Kind) -> Bool) -> Bool {
        strike { kind($0) ? true : nil } ?? false
    }
}
