package import Modules
import Sessions

extension ModuleError {
    /// What became of proving to a module that we know its key.
    package static func authentication(_ error: ComoduleAuthenticationError) -> ModuleError {
        let (secret, link): (SecretSuspicion.Sign?, LinkFailure?) =
            switch error {
            case .refused: (.refused, nil)
            case .refusedOrLost: (.refusedOrLost, nil)
            case .challengeLength, .unknownState: (nil, nil)
            case .link(let failure): (nil, failure)
            }
        return .exchange(
            ExchangeFault(
                .authentication,
                error.failureClass,
                secret: secret,
                link: link,
                error.description
            )
        )
    }

    /// What became of reading a record.
    package static func register(_ error: RegisterError) -> ModuleError {
        let link: LinkFailure? =
            switch error {
            case .link(let failure): failure
            case .length: nil
            }
        return .exchange(
            ExchangeFault(.question, error.failureClass, link: link, error.description)
        )
    }
}
