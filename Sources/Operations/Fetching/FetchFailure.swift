package import Commands
package import Images
import Manifest
import Synchronization

/// A flag that any thread can set once.
final class NewMark: Sendable {
    private let mark = Atomic(false)

    init() {}

    func set() { mark.store(true, ordering: .relaxed) }

    var isSet: Bool { mark.load(ordering: .relaxed) }
}

/// An image of a plan that cannot be fetched, and its meaning for the command.
package struct FetchFailure: Error {
    let image: PlannedImage
    let error: FetchError

    init(_ image: PlannedImage, _ error: FetchError) {
        self.image = image
        self.error = error
    }

    /// One error for all of them, nil when there is none; the worst one decides the exit code.
    static func refusal(_ failures: [FetchFailure], of total: Int) -> CommandError? {
        guard let first = failures.first else { return nil }
        let code = ExitCode.worst(of: failures.map(\.kind.exitCode))
        let worst = failures.first { $0.kind.exitCode == code } ?? first
        let sentence =
            failures.count == 1
            ? "the image \(first.image.name) cannot be fetched"
            : "\(failures.count) of \(total) images cannot be fetched"
        return CommandError(
            worst.kind,
            sentence,
            because: failures.flatMap { $0.causes(alone: failures.count == 1) },
            hint: worst.hint
        )
    }

    /// The error for a fault of the store that concerns all images.
    package static func refusal(ofStore error: ImageError) -> CommandError {
        CommandError(
            kind(ofStore: error),
            "the image store cannot be used",
            because: [error.description],
            hint: "make room or fix the disk, or name another directory with --state DIR"
        )
    }

    private func causes(alone: Bool) -> [String] {
        let name = alone ? "" : "\(image.name): "
        switch error {
        case .store(let error): return [name + error.description]
        case .cancelled:
            return [name + "it was interrupted; what arrived is kept for the next time"]
        case .origins(let failures):
            guard !failures.isEmpty else { return [name + "it has no URL"] }
            return failures.map { "\(name)\($0.origin): \($0.error)" }
        }
    }

    var kind: CommandError.Kind {
        switch error {
        case .store(let error): return Self.kind(ofStore: error)
        case .cancelled: return .unavailable
        case .origins(let failures):
            let codes = failures.map { Self.kind(of: $0.error) }
            let worst = ExitCode.worst(of: codes.map(\.exitCode))
            return codes.first { $0.exitCode == worst } ?? .inputMissing
        }
    }

    private static func kind(ofStore error: ImageError) -> CommandError.Kind {
        switch error {
        case .tooLarge, .tooLong, .wrongSize, .wrongDigest, .damaged: .trust
        case .full, .cannotWrite: .cannotWrite
        case .readOnly, .notPermitted, .missing, .isDirectory, .notAFile, .cannotRead:
            .cannotCreate
        case .cancelled: .unavailable
        }
    }

    private static func kind(of error: OriginError) -> CommandError.Kind {
        if error.isDeceit { return .trust }
        switch error {
        case .image(let error):
            switch error {
            case .full, .cannotWrite, .readOnly: return .cannotWrite
            case .missing, .isDirectory, .notAFile, .notPermitted, .cannotRead, .tooLarge, .tooLong,
                .wrongSize, .wrongDigest, .damaged, .cancelled:
                return .inputMissing
            }
        case .download(let error):
            if error.isAbsence { return .inputMissing }
            switch error {
            case .configuration: return .configuration
            case .file: return .inputMissing
            case .status, .noFile, .unreachable, .cut, .tooSlow, .tls, .weakerRedirect,
                .tooManyRedirects, .redirected, .badAnswer, .webPage, .tooLong, .wrongLength,
                .proxy, .noLibrary, .cancelled:
                return .unavailable
            }
        }
    }

    private var hint: String {
        let place = "it is named at \(image.place)"
        return switch kind {
        case .trust:
            "\(place); get the image or its digest from its maker again: nothing that differs is used"
        case .inputMissing: "\(place); fix the URL or put the file there"
        case .unavailable:
            "\(place); what arrived is kept: run again when the network is there, or add a mirror"
        case .configuration: "fix `fetch` in the manifest; \(place)"
        case .cannotWrite, .cannotCreate:
            "make room or fix the disk, then run again; \(place)"
        case .usage, .manifest, .busy, .internal: place
        }
    }
}
