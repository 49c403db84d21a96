package import Base
package import Simulation

/// What a depot's file says about every simulated device.
package protocol SimulatedPlan: PlannedModule {
    associatedtype Kind: FaultKind

    var serial: Serial { get set }
    var link: LinkParameters { get set }
    var faults: [ScriptedFault<Kind>] { get set }
    /// The initial state of what its flash keeps: the flash begins again when the file has another
    /// one.
    var origin: String { get }
}

extension SimulatedPlan {
    package typealias Fault = ScriptedFault<Kind>
}

/// A simulated device: its scripted faults, and the facts that it keeps over the end of our process.
package class SimulatedDevice<Plan: SimulatedPlan, Facts: FlashFacts> {
    package let plan: Plan
    let world: World
    /// What the family keeps.
    var facts: Facts
    var run: RunFacts
    /// How often each fault of the plan has happened.
    package private(set) var faultCounts: [Int]
    private let slot: DepotSlot?
    private var baseline: UInt32
    private var saveIsSet = false

    /// Continues with the facts in its slot, or begins with these.
    init(_ plan: Plan, _ place: ModulePlace, _ facts: Facts, _ run: RunFacts = RunFacts()) {
        self.plan = plan
        world = place.world
        slot = place.slot
        self.facts = facts
        self.run = run
        faultCounts = plan.faults.map { _ in 0 }
        baseline = CRC32.of(Array(plan.origin.utf8))
        guard let bytes = slot?.facts() else { return }
        var (fields, was) = (FlashFields(bytes), Memory(self))
        was.keep(in: &fields)
        guard fields.isRead, was.baseline == baseline else { return }
        (self.facts, self.run) = (was.facts, was.run)
        for (index, count) in zip(faultCounts.indices, was.faultCounts) {
            faultCounts[index] = Int(count)
        }
    }

    package var label: String { plan.serial.text }
    package var linkParameters: LinkParameters { plan.link }

    // MARK: Flash

    /// Everything that its flash holds.
    private struct Memory: FlashFacts {
        var baseline: UInt32
        var run: RunFacts
        var faultCounts: [UInt8]
        var facts: Facts

        init(_ device: SimulatedDevice) {
            (baseline, run, facts) = (device.baseline, device.run, device.facts)
            faultCounts = device.faultCounts.map { UInt8(clamping: $0) }
        }

        mutating func keep(in fields: inout FlashFields) {
            fields.keep(&baseline)
            run.keep(in: &fields)
            fields.keep(&faultCounts)
            facts.keep(in: &fields)
        }
    }

    /// Saves once for everything that happens at this moment.
    func save() {
        guard let slot, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            self.gather()
            var (fields, memory) = (FlashFields(capacity: 512), Memory(self))
            memory.keep(in: &fields)
            // Texts that a client wrote may be longer than the flash of such a device.
            let bytes = fields.bytes
            if bytes.count <= DepotMemory.factsBound { slot.save(bytes, at: self.world.now) }
        }
    }

    /// Brings `facts` up to date, because they are about to be saved.
    func gather() {}

    // MARK: Faults

    func isLeft(_ fault: Int) -> Bool { faultCounts[fault] < plan.faults[fault].times }

    func count(_ fault: Int) {
        faultCounts[fault] += 1
        save()
    }

    /// Counts and returns the first remaining fault for which `pick` returns a value.
    func strike<R>(_ pick: (Plan.Kind) -> R?) -> R? {
        // Called several times for every packet, and nearly every module has no faults.
        guard !faultCounts.isEmpty else { return nil }
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            guard let found = pick(fault.kind) else { continue }
            count(index)
            return found
        }
        return nil
    }

    /// Counts the first remaining fault of this kind; false when there is none.
    func happens(_ kind: (Plan.Kind) -> Bool) -> Bool { strike { kind($0) ? true : nil } ?? false }

    func happens(_ kind: Plan.Kind) -> Bool { happens { $0 == kind } }
}

/// What a module runs, and since when.
struct RunFacts: FlashFacts {
    enum Mode: UInt8 {
        case application, bootloader
        /// It runs nothing any more.
        case dead
    }

    var mode = Mode.application
    /// While it restarts: the time at which it starts in `mode`.
    var wakes: Moment?
    var bootCount: UInt32 = 1
    var addressGeneration: UInt8 = 0
    /// The name that its bootloader was given.
    var bootloaderName: [UInt8] = []

    mutating func keep(in fields: inout FlashFields) {
        fields.keep(&mode)
        fields.keep(&wakes)
        fields.keep(&bootCount)
        fields.keep(&addressGeneration)
        fields.keep(&bootloaderName)
    }
}
