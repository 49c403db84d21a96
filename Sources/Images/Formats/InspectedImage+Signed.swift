import Families

extension InspectedImage {
    /// Whether each part of it carries a signature that its module's bootloader can verify.
    ///
    /// Which key counts is known to the bootloader only.
    package var isSigned: Bool {
        switch self {
        case .secureDFU(let parts): parts.allSatisfy { $0.packet.signature != nil }
        case .mcuboot(let file): !file.image.signatures.isEmpty
        case .ncs(let package): package.parts.allSatisfy { !$0.file.image.signatures.isEmpty }
        case .legacyDFU(let package):
            package.parts.allSatisfy { if case .signed = $0.packet.proof { true } else { false } }
        case .raw: false
        }
    }
}
