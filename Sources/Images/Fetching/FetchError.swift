/// Why one origin of an image was given up.
package enum OriginError: Error, Equatable, Sendable {
    /// It did not deliver the image.
    case download(DownloadError)
    /// It delivered something else.
    case image(ImageError)

    /// Whether it delivered bytes that are not the image: this concerns trust, not the network.
    package var isDeceit: Bool {
        switch self {
        case .download(.tooLong), .download(.wrongLength), .download(.webPage): true
        case .download: false
        case .image(.tooLarge), .image(.tooLong), .image(.wrongSize), .image(.wrongDigest): true
        case .image: false
        }
    }
}

extension OriginError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .download(let error): error.description
        case .image(let error): error.description
        }
    }
}

/// Why an image could not be brought into the store.
package enum FetchError: Error, Equatable, Sendable {
    /// A fault of the store itself: its disk, its folders, or a size that contradicts its content.
    case store(ImageError)
    /// No origin delivered it; each with its reason, in the order of the attempts.
    case origins([Failure])
    case cancelled

    /// One origin, and why it was given up.
    package struct Failure: Equatable, Sendable {
        package let origin: Origin
        package let error: OriginError

        init(_ origin: Origin, _ error: OriginError) {
            self.origin = origin
            self.error = error
        }
    }
}

extension FetchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .origins(let failures):
            failures.map { "\($0.origin): \($0.error)" }.joined(separator: "; ")
        case .cancelled: "cancelled"
        }
    }
}
