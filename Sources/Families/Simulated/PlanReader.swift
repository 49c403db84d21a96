import Base
import Radio
import Simulation

/// Reads an item of a depot's `modules`: what every family's simulated modules have in common.
package struct PlanReader {
    var reader: FieldReader
    let item: DepotItem
    private var hasSerial = false

    init(_ item: DepotItem, as what: String) {
        reader = FieldReader(item.node, item.diagnostics, as: what)
        self.item = item
        _ = reader.family()
    }

    var diagnostics: Diagnostics { item.diagnostics }

    /// The serial, which must be right for the family.
    ///
    /// The rest of an item is read even without one, so that all its faults are reported together.
    mutating func serial(
        _ rule: String,
        hint: String,
        _ isRight: (String) -> Bool = { _ in true }
    ) -> Serial {
        let text = reader.text("serial")
        if let text, isRight(text), let serial = Serial(text) {
            hasSerial = true
            return serial
        }
        if text != nil { diagnostics.error(reader.place(of: "serial"), rule, hint: hint) }
        guard let none = Serial("none") else { preconditionFailure("it is a serial") }
        return none
    }

    /// A plan with the profile and the serial; the modules of other profiles have serials of any
    /// form.
    mutating func begin<Plan: SimulatedModulePlan>(
        _ rule: String = "a serial is 1 to 64 visible characters without spaces",
        hint: String,
        _ isRight: (String) -> Bool = { _ in true }
    ) -> Plan {
        let profile = item.profile(of: Plan.shape.family, &reader)
        var plan = Plan(serial: serial(rule, hint: hint) { profile != nil || isRight($0) })
        plan.profile = profile
        return plan
    }

    /// The plan with what all modules have; empty when it has no serial.
    mutating func end<Plan: SimulatedModulePlan>(_ read: Plan) -> [Plan] {
        var plan = read
        plan.signal = reader.integer("signal", in: -120...0, default: -60)
        if reader.boolean("out-of-reach", default: false) { plan.signal = nil }
        let intervals: ClosedRange<Duration> = .milliseconds(20)...(.seconds(11))
        reader.read("advertising-interval", in: intervals, into: &plan.advertisingInterval)
        return finish(plan)
    }

    /// The plan with its link and its faults; empty when it has no serial.
    mutating func finish<Plan: SimulatedPlan>(
        _ read: Plan,
        times: ClosedRange<Int> = 1...255
    ) -> [Plan] {
        var plan = read
        plan.link = item.link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: item.link)
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { node in
            var reader = FaultReader<Plan.Kind>(node, diagnostics)
            return reader.fault(times: times)
        }
        reader.finish()
        return hasSerial ? [plan] : []
    }

    /// The plan with what all modules have, for as many modules as the item says; `serial` gives each
    /// its own, or nil when serials of this form cannot be counted.
    mutating func series<Plan: SimulatedModulePlan>(
        of plan: Plan,
        _ rule: String,
        hint: String,
        at key: String? = nil,
        _ serial: (inout Plan, Int) -> Serial?
    ) -> [Plan] {
        let count = reader.integer("count", in: 1...100_000, default: 1)
        let plans = end(plan)
        guard count > 1, let first = plans.first else { return plans }
        let all = (0..<count).map { step -> Plan? in
            var next = first
            guard let serial = serial(&next, step) else { return nil }
            next.serial = serial
            return next
        }
        if all[0] == nil {
            diagnostics.error(key.map { reader.place(of: $0) } ?? reader.place, rule, hint: hint)
        }
        return all.compactMap(\.self)
    }

    /// The name that it advertises; nil when the item says that there is none.
    mutating func name(default fallback: String?) -> String? {
        let name = reader.text("name", .optional)
        return reader.boolean("nameless", default: false) ? nil : name ?? fallback
    }

    mutating func version(_ key: String = "version", into version: inout FirmwareVersion) {
        guard let text = reader.text(key, .optional) else { return }
        version = self.version(text, reader.place(of: key)) ?? version
    }

    func version(_ text: String, _ place: Place) -> FirmwareVersion? {
        if let version = FirmwareVersion(text) { return version }
        diagnostics.error(
            place,
            "`\(text)` is not a version",
            hint: "write two to four numbers in quotes, as in \"1.2.3\""
        )
        return nil
    }

    /// Bytes in hex; nil when there are none, or not as many as allowed.
    mutating func hex(
        _ key: String,
        _ presence: FieldReader.Presence = .required,
        count: ClosedRange<Int>,
        _ rule: String,
        hint: String
    ) -> [UInt8]? {
        guard let text = reader.text(key, presence) else { return nil }
        if let bytes = Hex.bytes(text), count.contains(bytes.count) { return bytes }
        diagnostics.error(reader.place(of: key), rule, hint: hint)
        return nil
    }
}

/// Reads a fault: one key says what goes wrong, and another how often.
package struct FaultReader<Kind: FaultKind> {
    var reader: FieldReader
    var kinds: [Kind] = []

    init(_ node: SourceNode, _ diagnostics: Diagnostics) {
        reader = FieldReader(node, diagnostics, as: "a fault")
    }

    fileprivate mutating func fault(times: ClosedRange<Int>) -> ScriptedFault<Kind>? {
        let times = reader.integer("times", in: times, default: 1)
        Kind.read(&self)
        reader.finish()
        guard kinds.count == 1 else {
            reader.diagnostics.error(
                reader.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {\(Kind.example)}`"
            )
            return nil
        }
        return ScriptedFault(kinds[0], times: times)
    }

    mutating func flags(_ words: KeyValuePairs<String, Kind>) {
        for (key, kind) in words where reader.boolean(key, default: false) { kinds.append(kind) }
    }

    /// Faults at a byte of an image.
    mutating func bytes(from first: Int = 0, _ words: KeyValuePairs<String, (Int) -> Kind>) {
        add(words) { $0.byteCount($1, in: first...(64 << 20), .optional)?.bytes }
    }

    mutating func numbers(
        in range: ClosedRange<Int> = 1...1_000_000,
        _ words: KeyValuePairs<String, (Int) -> Kind>
    ) {
        add(words) { $0.integer($1, in: range, .optional) }
    }

    mutating func durations(
        in range: ClosedRange<Duration> = .zero ... .seconds(365 * 86_400),
        _ words: KeyValuePairs<String, (Duration) -> Kind>
    ) {
        add(words) { $0.duration($1, in: range, .optional) }
    }

    mutating func choices<Choice: CaseIterable & RawRepresentable<String>>(
        _ words: KeyValuePairs<String, (Choice) -> Kind>
    ) {
        add(words) { $0.choice($1, Choice.self, .optional) }
    }

    /// Adds the kinds whose keys have a value.
    private mutating func add<Value>(
        _ words: KeyValuePairs<String, (Value) -> Kind>,
        _ value: (inout FieldReader, String) -> Value?
    ) {
        for (key, kind) in words {
            if let found = value(&reader, key) { kinds.append(kind(found)) }
        }
    }
}

extension FaultReader where Kind: UpdateFaultKind {
    /// Faults of every module that takes images.
    mutating func cuts() {
        bytes([
            "link-lost-at": { .linkLost(at: $0) }, "silent-at": { .silent(at: $0) },
            "restart-at": { .restart(at: $0) },
        ])
        flags(["connect-fails": .connectFails])
    }
}

extension SimulatedFamily {
    /// A family that has no keys at the head of a depot.
    init(
        _ family: Family,
        as what: String,
        invent: @escaping @Sendable (InventedModule) -> InventedItem,
        read: @escaping @Sendable (inout PlanReader) -> [any PlannedModule]
    ) {
        self.init(family, invent: invent) { _, _ in
            { item in
                var reader = PlanReader(item, as: what)
                return read(&reader)
            }
        }
    }
}
