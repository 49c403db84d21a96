/// Why a file is not a package of MCUboot images that can be sent.
package enum NCSPackageError: Error, Equatable {
    case archive(ZipError)
    case noManifest
    /// The manifest cannot be read; the text contains the reason.
    case manifest(String)
    case noFiles
    case missingFile(String)
    /// Listed twice.
    case sharedFile(String)
    case wrongSize(String, listed: Int, actual: Int)
    case image(String, MCUbootFileError)
    /// The manifest states a version other than the image's.
    case wrongVersion(String, listed: String, actual: String)
    /// Two files for the same slot in the module.
    case samePlace(String, String)
}

extension NCSPackageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .archive(let error): "the package cannot be read: \(error)"
        case .noManifest: "the package has no manifest.json at its top"
        case .manifest(let what): "the package's manifest.json \(what)"
        case .noFiles: "the package lists nothing to send"
        case .missingFile(let name): "the package lists '\(shown(name))' but does not hold it"
        case .sharedFile(let name): "the package lists '\(shown(name))' twice"
        case .wrongSize(let name, let listed, let actual):
            "the package's '\(shown(name))' has \(actual) bytes, its manifest states \(listed)"
        case .image(let name, let error): "the package's '\(shown(name))': \(error)"
        case .wrongVersion(let name, let listed, let actual):
            "the package's '\(shown(name))' is version \(actual), its manifest states "
                + shown(listed)
        case .samePlace(let first, let second):
            "the package's '\(shown(first))' and '\(shown(second))' are for the same slot"
        }
    }

    private func shown(_ name: String) -> String { ZipError.shown(name) }
}
