import Base

/// Reads the values under `host` in a depot's file.
struct HostReader {
    private var reader: FieldReader
    private let diagnostics: Diagnostics

    init(_ reader: FieldReader, _ diagnostics: Diagnostics) {
        self.reader = reader
        self.diagnostics = diagnostics
    }

    mutating func read() -> HostPlan {
        var plan = HostPlan()
        let day = Duration.seconds(86_400)
        reader.read("advertising-slots", in: 0...32, into: &plan.advertisingSlots)
        reader.read("temporary-timeout", in: .milliseconds(100)...day, into: &plan.temporaryTimeout)
        reader.read("disconnect-time", in: .zero ... .seconds(10), into: &plan.disconnectTime)
        reader.read("strangers", in: 0...5_000, into: &plan.strangers)
        let intervals: ClosedRange<Duration> = .milliseconds(20)...(.seconds(11))
        reader.read("strangers-interval", in: intervals, into: &plan.strangersInterval)
        if reader.has("address-lifetime") {
            plan.addressLifetime = reader.duration(
                "address-lifetime",
                in: .milliseconds(500)...day,
                default: .seconds(900)
            )
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        reader.finish()
        return plan
    }

    private func fault(_ node: SourceNode) -> HostFault? {
        var reader = FieldReader(node, diagnostics, as: "a fault of the host")
        let isLasting = reader.boolean("always", default: false)
        let times = reader.integer("times", in: 1...1_000_000, default: 1)
        let module = reader.text("module", .optional)
        let lacks = reader.text("lacks", .optional)
        let kinds = HostFault.Kind.allCases.filter { reader.boolean($0.rawValue, default: false) }
        reader.finish()
        guard kinds.count == 1 else {
            diagnostics.error(
                node.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {connect-aborted: true, times: 3}`"
            )
            return nil
        }
        let lacking = lacks.flatMap { GATTUUID($0) }
        if let lacks, lacking == nil {
            diagnostics.error(
                reader.place(of: "lacks"),
                "`\(lacks)` is no UUID of a characteristic",
                hint: "four hex digits, or 32 in groups, in quotes"
            )
        }
        return HostFault(
            kinds[0],
            times: isLasting ? nil : times,
            module: module,
            lacking: lacking
        )
    }
}
