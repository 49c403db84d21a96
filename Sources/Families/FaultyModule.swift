import Domain

/// A fault that happens by script a number of times.
protocol ScriptedFault {
    associatedtype Kind
    var kind: Kind { get }
    var times: Int { get }
}

/// A simulated module with scripted faults, each of which happens as often as its plan demands.
protocol FaultyModule: AnyObject {
    associatedtype Fault: ScriptedFault
    var scriptedFaults: [Fault] { get }
    /// How often each fault has happened; part of the state that the module saves.
    var faultCounts: [UInt8] { get set }
    func save()
}

extension FaultyModule {
    func isLeft(_ fault: Int) -> Bool { Int(faultCounts[fault]) < scriptedFaults[fault].times }

    func count(_ fault: Int) {
        if faultCounts[fault] < .max { faultCounts[fault] += 1 }
        save()
    }

    /// Counts and returns the first remaining fault for which `pick` returns a value.
    func strike<R>(_ pick: (Fault.Kind) -> R?) -> R? {
        let faults = scriptedFaults
        // Called several times for every packet, and nearly every module has no faults.
        guard !faults.isEmpty else { return nil }
        for (index, fault) in faults.enumerated() where isLeft(index) {
            guard let found = pick(fault.kind) else { continue }
            count(index)
            return found
        }
        return nil
    }

    /// Counts the first remaining fault of this kind; false when there is none.
    func happens(_ kind: (Fault.Kind) -> Bool) -> Bool {
        strike { kind($0) ? true : nil } ?? false
    }
}
