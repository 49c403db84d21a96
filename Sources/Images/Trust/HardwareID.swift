package import Base
import Families

/// A kind of module, or all kinds that share the given parts: `comodule-17-0`, `comodule-17`.
package struct HardwareID: Sendable, Hashable, CustomStringConvertible {
    let family: Family
    let type: UInt32?
    let variant: UInt32?

    package init(family: Family, type: UInt32?, variant: UInt32?) {
        self.family = family
        self.type = type
        self.variant = variant
    }

    /// Reads the family's name, optionally `-` and the type, and then optionally `-` and the
    /// variant.
    package init?(_ text: String) {
        // The longest name is used: the name of one family may begin with the name of another.
        let fitting = FamilyRegistry.families.filter { text.hasPrefix($0.rawValue) }
        guard let family = fitting.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count })
        else { return nil }
        let rest = text.utf8.dropFirst(family.rawValue.utf8.count)
        let parts = rest.split(separator: 0x2D, omittingEmptySubsequences: false)
        var numbers: [UInt32] = []
        for part in parts.dropFirst() {
            guard (1...10).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt32(String(decoding: part, as: UTF8.self))
            else { return nil }
            numbers.append(number)
        }
        guard numbers.count <= 2, parts.first?.isEmpty ?? true else { return nil }
        self.init(
            family: family,
            type: numbers.first,
            variant: numbers.count == 2 ? numbers[1] : nil
        )
    }

    /// Whether every module of `other` is one of these.
    package func covers(_ other: HardwareID) -> Bool {
        family == other.family && (type == nil || type == other.type)
            && (variant == nil || variant == other.variant)
    }

    /// Whether a module can be one of these and one of `other`.
    package func overlaps(_ other: HardwareID) -> Bool {
        func agree(_ one: UInt32?, _ two: UInt32?) -> Bool {
            one == nil || two == nil || one == two
        }
        return family == other.family && agree(type, other.type) && agree(variant, other.variant)
    }

    package var description: String {
        switch (type, variant) {
        case (nil, nil): family.rawValue
        case (let type?, nil): "\(family.rawValue)-\(type)"
        case (nil, let variant?): "\(family.rawValue)-*-\(variant)"
        case (let type?, let variant?): "\(family.rawValue)-\(type)-\(variant)"
        }
    }
}
