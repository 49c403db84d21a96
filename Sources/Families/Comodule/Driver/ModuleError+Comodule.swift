package import Radio

extension ModuleError {
    /// The error for a failed authentication.
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

    /// The error for a record that could not be read.
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
