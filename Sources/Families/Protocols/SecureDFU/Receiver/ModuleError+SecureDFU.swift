package import Radio

extension ModuleError {
    /// The error of entering the bootloader.
    package static func entry(_ error: ButtonlessError) -> ModuleError {
        let (kind, link): (UpdateFault.Kind, LinkFailure?) =
            switch error {
            case .link(let failure): (.plain, failure)
            case .noAnswer(.entering), .malformed: (.unanswered, nil)
            case .noAnswer(.naming), .refused: (.plain, nil)
            }
        return .exchange(
            ExchangeFault(.entry, error.failureClass, kind, link: link, error.description)
        )
    }

    /// The error of sending an image.
    package static func upload(_ error: UploadError) -> ModuleError {
        let (kind, link): (UpdateFault.Kind, LinkFailure?) =
            switch error {
            case .link(let failure): (.plain, failure)
            case .corrupted, .noProgress: (.tooFast, nil)
            case .refused(.execute, of: .initPacket, .extended(.firmwareVersion)):
                (.alreadyThere, nil)
            case .refused, .noAnswer, .beyondImage, .initPacketTooLong, .noObjectSize,
                .unfitLength, .malformed:
                (.plain, nil)
            }
        return .exchange(
            ExchangeFault(.transfer, error.failureClass, kind, link: link, error.description)
        )
    }
}
