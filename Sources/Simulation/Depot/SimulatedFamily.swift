package import Domain
package import Modules
package import SourceTree

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

    /// A family that has no keys at the head of a depot.
    package init(
        _ family: Family,
        invent: @escaping @Sendable (InventedModule) -> InventedItem,
        item: @escaping @Sendable (DepotItem) -> [any PlannedModule]
    ) {
        self.init(family, invent: invent) { _, _ in item }
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

    /// Puts the module on the air; its flash is in the slot, if there is one.
    func join(_ world: World, slot: DepotSlot?, imageCapacity: Int)
}
