package import Domain
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

    package init(
        type: Int?,
        variant: Int,
        secondary: FirmwareVersion,
        primary: FirmwareVersion?,
        isOngoing: Bool,
        bootloader: FirmwareVersion? = nil,
        external1: FirmwareVersion? = nil,
        external2: FirmwareVersion? = nil
    ) {
        self.type = type
        self.variant = variant
        self.secondary = secondary
        self.primary = primary
        self.isOngoing = isOngoing
        self.bootloader = bootloader
        self.external1 = external1
        self.external2 = external2
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
