package import Radio

extension ModuleError {
    /// The error of an update over SMP.
    package static func smp(_ error: SMPUpdateError) -> ModuleError {
        let (kind, link): (UpdateFault.Kind, LinkFailure?) =
            switch error {
            case .ask(.link(let failure)), .upload(.link(let failure)): (.plain, failure)
            case .upload(.noAnswer), .upload(.noProgress): (.tooFast, nil)
            case .ask, .upload, .tooLarge, .noSlot, .noFile, .notNewer, .dependency, .corrupted,
                .notListed, .occupied, .noRestart, .reverted, .unhealthy, .notConfirmed:
                (.plain, nil)
            }
        return .exchange(
            ExchangeFault(.transfer, error.failureClass, kind, link: link, error.description)
        )
    }
}
