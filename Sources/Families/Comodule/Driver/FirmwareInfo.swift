package import Domain
import Modules
package import Sessions

/// The firmware information that a Comodule module reports.
package struct FirmwareInfo: Sendable, Equatable {
    /// The combination of module and vehicle that the firmware is made for; nil when the module
    /// does not report it.
    package var type: Int?
    package var variant: Int
    /// The module's own firmware.
    package var secondary: FirmwareVersion
    package var primary: FirmwareVersion?
    /// The module is handing an image on to one of its parts.
    package var isOngoing: Bool
    package var bootloader: FirmwareVersion?
    package var external1: FirmwareVersion?
    package var external2: FirmwareVersion?

    init(_ versions: ModuleVersions) {
        type = versions.type
        variant = versions.variant
        secondary = versions.secondary
        primary = versions.primary
        isOngoing = versions.isOngoing
        bootloader = versions.bootloader
        external1 = versions.externals.first { $0.part == .external1 }?.version
        external2 = versions.externals.first { $0.part == .external2 }?.version
    }

    package func version(of part: ModulePart) -> FirmwareVersion? {
        switch part {
        case .secondary: secondary
        case .primary: primary
        case .bootloader: bootloader
        case .external1: external1
        case .external2: external2
        }
    }

    /// The versions of its parts, as far as it reports them.
    package var versions: [ModulePart: FirmwareVersion] {
        var versions: [ModulePart: FirmwareVersion] = [:]
        for part in ModulePart.allCases { versions[part] = version(of: part) }
        return versions
    }

    /// The facts that decide whether the module may have an image for this part.
    package func identity(of part: ModulePart = .secondary) -> ModuleFirmware {
        ModuleFirmware(
            family: .comodule,
            type: type,
            variant: variant,
            version: version(of: part)
        )
    }
}
