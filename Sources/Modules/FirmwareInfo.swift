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

    package init(
        type: Int?,
        variant: Int,
        secondary: FirmwareVersion,
        primary: FirmwareVersion?,
        isOngoing: Bool
    ) {
        self.type = type
        self.variant = variant
        self.secondary = secondary
        self.primary = primary
        self.isOngoing = isOngoing
    }

    /// What decides whether the module may have an image.
    package var identity: ModuleFirmware {
        ModuleFirmware(family: .comodule, type: type, variant: variant, version: secondary)
    }
}
