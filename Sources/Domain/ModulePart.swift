/// What in a module an image replaces.
package enum ModulePart: String, CaseIterable, Sendable, Hashable {
    /// The radio's own MCU: what everybody means by "the module's firmware".
    case secondary
    /// The vehicle's MCU behind it.
    case primary
    case bootloader
    /// Components that the module hands an image on to.
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
