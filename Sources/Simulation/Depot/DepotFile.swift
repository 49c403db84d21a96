package import Base
package import Radio

/// A simulated depot as its YAML file describes it.
package struct DepotFile: Sendable {
    package var name: String
    package var seed: UInt64
    package var adapters: [String]
    package var linksPerAdapter: Int
    /// How many links a controller keeps up; nil for all that it accepts.
    package var steadyLinks: Int?
    /// The space for an image in each module, in bytes.
    package var imageCapacity: Int
    /// The modules of one family are adjacent, in the order in which families are known.
    package var modules: [any PlannedModule]
    /// The Bluetooth service, when the depot is served as one.
    package var host = HostPlan()

    /// A depot without modules, for callers that add their own.
    package static func empty(_ name: String) -> DepotFile {
        DepotFile(
            name: name,
            seed: 1,
            adapters: ["hci0"],
            linksPerAdapter: 7,
            imageCapacity: 1 << 20,
            modules: []
        )
    }

    /// Reads a depot; nil when it is wrong, with the reasons in `diagnostics`.
    ///
    /// A module whose item names no family belongs to the first one.
    package static func load(
        path: String,
        families: [SimulatedFamily],
        profiles: ProfileLibrary = ProfileLibrary(),
        _ diagnostics: Diagnostics
    ) throws(FileError) -> DepotFile? {
        guard let tree = try SourceNode.load(path: path, diagnostics) else { return nil }
        return read(tree, families: families, profiles: profiles, diagnostics)
    }

    package static func read(
        _ tree: SourceNode,
        families: [SimulatedFamily],
        profiles: ProfileLibrary = ProfileLibrary(),
        _ diagnostics: Diagnostics
    ) -> DepotFile? {
        var reader = FieldReader(tree, diagnostics, as: "a simulated depot")
        var file = empty(reader.text("name") ?? "")
        reader.read("seed", in: 0...Int.max, into: &file.seed)
        let adapters = reader.list("adapters", .optional, of: "adapter names")
            .compactMap { $0.text(diagnostics) }
        if !adapters.isEmpty { file.adapters = adapters }
        reader.read("links-per-adapter", in: 1...20, into: &file.linksPerAdapter)
        file.steadyLinks = reader.integer("steady-links", in: 1...20, .optional)
        reader.read(bytes: "image-capacity", in: 4_096...(64 << 20), into: &file.imageCapacity)
        let link = reader.reader("link", as: "a link", .optional).map { read(link: $0) }
        let items = families.map { ($0.family, $0.items(&reader, diagnostics)) }
        if let field = reader.reader("host", as: "a host", .optional) {
            var reader = HostReader(field, diagnostics)
            file.host = reader.read()
        }
        var seen: [Serial: Place] = [:]
        var modules: [Family: [any PlannedModule]] = [:]
        for node in reader.list("modules", of: "modules") {
            let family = family(of: node, among: items.map(\.0)) ?? items.first?.0
            guard let family, let read = items.first(where: { $0.0 == family })?.1 else { continue }
            let item = DepotItem(
                node: node,
                link: link ?? LinkParameters(),
                profiles: profiles,
                diagnostics: diagnostics
            )
            for plan in read(item) {
                if let first = seen[plan.serial] {
                    diagnostics.error(
                        node.place,
                        "the serial \(plan.serial) is taken by the module at \(first)",
                        hint: "give every module a serial of its own"
                    )
                }
                seen[plan.serial] = node.place
                modules[family, default: []].append(plan)
            }
        }
        reader.finish()
        guard !diagnostics.hasErrors else { return nil }
        file.modules = families.flatMap { modules[$0.family] ?? [] }
        return file
    }

    /// The family that the item names: each family has keys of its own.
    private static func family(of node: SourceNode, among families: [Family]) -> Family? {
        // Other mistakes in the item are reported by its reader.
        var peek = FieldReader(node, Diagnostics(), as: "a simulated module")
        return peek.word("family", of: families.map(\.rawValue), .optional)
            .map(Family.init(rawValue:))
    }

    /// Reads the values under `link`, on top of those for the whole depot.
    package static func read(
        link field: FieldReader,
        over base: LinkParameters = LinkParameters()
    ) -> LinkParameters {
        var reader = field
        var link = base
        reader.read("interval", in: .microseconds(7_500)...(.seconds(4)), into: &link.interval)
        reader.read("mtu", in: 23...517, into: &link.mtu)
        reader.read("phy", into: &link.phy)
        reader.read("data-length", in: 27...251, into: &link.dataLength)
        reader.read("packets-per-interval", in: 1...100, into: &link.packetsPerInterval)
        link.loss =
            reader.percent("loss", .optional).map { Double($0.hundredths) / 10_000 } ?? base.loss
        let timeouts: ClosedRange<Duration> = .milliseconds(100)...(.seconds(32))
        reader.read("supervision-timeout", in: timeouts, into: &link.supervisionTimeout)
        reader.finish()
        return link
    }
}
