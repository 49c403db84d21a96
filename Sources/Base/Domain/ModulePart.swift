/// The part of a module that an image replaces.
package enum ModulePart: String, CaseIterable, Sendable, Hashable {
    /// The radio's own MCU, which people call "the module's firmware".
    case secondary
    /// The vehicle's MCU that is connected to the module.
    case primary
    case bootloader
    /// Components to which the module hands an image on.
    case external1 = "external-1"
    case external2 = "external-2"

    /// Whether the module itself passes the image on after its restart, which takes minutes.
    package var isHandedOver: Bool {
        switch self {
        case .secondary, .bootloader: false
        case .primary, .external1, .external2: true
        }
    }
}
