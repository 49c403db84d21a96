package import Domain
import Modules
package import Sessions

/// What a Comodule module says about its firmware.
package struct FirmwareInfo: Sendable, Equatable {
    /// Which combination of module and vehicle it is made for; nil when the module does not say.
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

    /// What its parts run, as far as it tells.
    package var versions: [ModulePart: FirmwareVersion] {
        var versions: [ModulePart: FirmwareVersion] = [:]
        for part in ModulePart.allCases { versions[part] = version(of: part) }
        return versions
    }

    /// What decides whether the module may have an image for this part.
    package func identity(of part: ModulePart = .secondary) -> ModuleFirmware {
        ModuleFirmware(
            family: .comodule,
            type: type,
            variant: variant,
            version: version(of: part)
        )
    }
}
