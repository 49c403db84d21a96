import Base
import Families
package import Radio

/// The modules of a whole scan.
package struct HeardModules: Sendable {
    private var seen: [String: DiscoveredModule] = [:]
    /// The places of modules that were heard from more than one address.
    private var severalPeers: Set<String> = []

    package init() {}

    /// By serial and family.
    package var modules: [DiscoveredModule] { seen.values.sorted { $0.place < $1.place } }

    package mutating func hear(_ list: [DiscoveredModule]) {
        for module in list {
            let known = seen.updateValue(module, forKey: module.place)
            if let known, known.peer != module.peer { severalPeers.insert(module.place) }
        }
    }

    /// Whether several modules may have what serves as this one's serial.
    func isShared(_ module: DiscoveredModule) -> Bool {
        severalPeers.contains(module.place) && !FamilyRegistry.hasHexSerials(module.family)
    }
}

extension DiscoveredModule {
    /// Modules of two families may have the same serial: each has its own row.
    var place: String { serial.text + "\u{1F}" + family.rawValue }
}
