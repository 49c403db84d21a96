package import Base
package import Radio

/// A family of modules that a simulated depot may contain: how its file describes them.
package struct SimulatedFamily: Sendable {
    /// Reads one item of a depot's `modules`, which may describe many modules.
    package typealias ItemReader = (DepotItem) -> [any PlannedModule]

    package let family: Family
    /// Reads the family's keys at the head of a depot, which apply to all its modules, and returns
    /// the reader of an item.
    package let items: @Sendable (inout FieldReader, Diagnostics) -> ItemReader
    /// Makes up a module of the family.
    package let invent: @Sendable (InventedModule) -> InventedItem

    package init(
        _ family: Family,
        invent: @escaping @Sendable (InventedModule) -> InventedItem,
        items: @escaping @Sendable (inout FieldReader, Diagnostics) -> ItemReader
    ) {
        self.family = family
        self.invent = invent
        self.items = items
    }
}

/// One item of a depot's `modules`, and the values for all of them.
package struct DepotItem {
    package let node: SourceNode
    package let link: LinkParameters
    /// The profiles of which an item may name one.
    package let profiles: ProfileLibrary
    package let diagnostics: Diagnostics

    /// The profile that the item names; nil for the family's generic one.
    package func profile(of family: Family, _ reader: inout FieldReader) -> Profile? {
        guard let name = reader.text("profile", .optional), name != Profile.generic else {
            return nil
        }
        do throws(PropertyMistake) {
            return try profiles.require(name, of: family)
        } catch {
            diagnostics.error(reader.place(of: "profile"), error.message, hint: error.hint)
            return nil
        }
    }
}

/// A simulated module as a depot's file describes it.
package protocol PlannedModule: Sendable {
    var serial: Serial { get }

    /// Puts the module on the air.
    func join(_ place: ModulePlace)
}

/// Where a simulated module is put: into a world, with flash that outlives the process if it has a
/// slot.
package struct ModulePlace {
    package let world: World
    package let slot: DepotSlot?
    private let imageCapacity: Int

    package init(_ world: World, slot: DepotSlot? = nil, imageCapacity: Int = 1 << 20) {
        (self.world, self.slot, self.imageCapacity) = (world, slot, imageCapacity)
    }

    /// The memory for the module's image.
    package var memory: ModuleMemory { slot.map { ModuleMemory($0) } ?? volatileMemory }

    package var volatileMemory: ModuleMemory {
        ModuleMemory(VolatileMemory(capacity: imageCapacity))
    }
}

extension World {
    /// Adds a module whose state ends with the process.
    package func add(_ plan: some PlannedModule, imageCapacity: Int = 1 << 20) {
        plan.join(ModulePlace(self, imageCapacity: imageCapacity))
    }

    /// The modules of one kind.
    package func modules<Module: AirDevice>(_ kind: Module.Type) -> [Module] {
        devices.compactMap { $0 as? Module }
    }
}
