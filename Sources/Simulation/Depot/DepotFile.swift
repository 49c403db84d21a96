package import Base
package import Radio

/// A simulated depot as its YAML file describes it.
package struct DepotFile: Sendable {
    package var name: String
    package var seed: UInt64
    package var adapters: [String]
    package var linksPerAdapter: Int
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
        let name = reader.text("name") ?? ""
        let seed = reader.integer("seed", in: 0...Int.max, default: 1)
        let adapters = reader.list("adapters", .optional, of: "adapter names")
            .compactMap { $0.text(diagnostics) }
        let links = reader.integer("links-per-adapter", in: 1...20, default: 7)
        let capacity = reader.byteCount("image-capacity", in: 4_096...(64 << 20), .optional)
        let link = reader.reader("link", as: "a link", .optional).map { read(link: $0) }
        let items = families.map { ($0.family, $0.items(&reader, diagnostics)) }
        let host = reader.reader("host", as: "a host", .optional).map { field in
            var reader = HostReader(field, diagnostics)
            return reader.read()
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
        return DepotFile(
            name: name,
            seed: UInt64(seed),
            adapters: adapters.isEmpty ? ["hci0"] : adapters,
            linksPerAdapter: links,
            imageCapacity: capacity?.bytes ?? 1 << 20,
            modules: families.flatMap { modules[$0.family] ?? [] },
            host: host ?? HostPlan()
        )
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
        link.interval = reader.duration(
            "interval",
            in: .microseconds(7_500)...(.seconds(4)),
            default: base.interval
        )
        link.mtu = reader.integer("mtu", in: 23...517, default: base.mtu)
        link.phy = reader.choice("phy", default: base.phy)
        link.dataLength = reader.integer("data-length", in: 27...251, default: base.dataLength)
        link.packetsPerInterval = reader.integer(
            "packets-per-interval",
            in: 1...100,
            default: base.packetsPerInterval
        )
        link.loss =
            reader.percent("loss", .optional).map { Double($0.hundredths) / 10_000 } ?? base.loss
        link.supervisionTimeout = reader.duration(
            "supervision-timeout",
            in: .milliseconds(100)...(.seconds(32)),
            default: base.supervisionTimeout
        )
        reader.finish()
        return link
    }
}
