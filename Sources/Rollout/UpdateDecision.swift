import Domain
import Modules

/// What is to be done about an update, decided before the module is changed.
enum UpdateDecision: Equatable {
    case update
    case alreadyCurrent
    /// With a sentence that says why and what to do.
    case rejected(String)

    static func decide(_ info: FirmwareInfo, _ update: UpdateJob) -> UpdateDecision {
        if let wanted = update.type, info.type != wanted {
            let found = info.type.map(String.init) ?? "unknown"
            return .rejected(
                "the image \(update.name) is for type \(wanted), the module is of type \(found)"
            )
        }
        if let wanted = update.variant, info.variant != wanted {
            return .rejected(
                "the image \(update.name) is for variant \(wanted), the module is of variant "
                    + "\(info.variant)"
            )
        }
        if info.secondary == update.version { return .alreadyCurrent }
        if info.secondary > update.version && !update.allowsDowngrade {
            return .rejected(
                "runs \(info.secondary), newer than \(update.version); write `downgrade: allow` "
                    + "at the update if it is meant"
            )
        }
        return .update
    }
}
