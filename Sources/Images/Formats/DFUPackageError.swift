/// Why a file is not a DFU package that can be sent.
package enum DFUPackageError: Error, Equatable {
    case archive(ZipError)
    case noManifest
    /// The manifest cannot be read; the text contains the reason.
    case manifest(String)
    /// The package is for bootloaders from before Secure DFU; such packages have no signature.
    case legacy
    case noParts
    case unknownPart(String)
    /// More than one part for the system; a module takes only one of them at a time.
    case conflictingParts([String])
    case missingFile(String)
    case emptyFile(String)
    /// The manifest uses one file for two purposes.
    case sharedFile(String)
    /// A file that the manifest does not list.
    case unlistedFile(String)
    /// The sizes of SoftDevice and bootloader do not add up to the length of their file.
    case wrongSizes(String)
}

extension DFUPackageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .archive(let error): "the DFU package cannot be read: \(error)"
        case .noManifest: "the DFU package has no manifest.json at its top"
        case .manifest(let what): "the DFU package's manifest.json \(what)"
        case .legacy: "the DFU package is of the legacy kind; make it for Secure DFU"
        case .noParts: "the DFU package lists nothing to send"
        case .unknownPart(let name): "the DFU package lists an unknown part '\(shown(name))'"
        case .conflictingParts(let kinds):
            "the DFU package lists \(kinds.joined(separator: " and ")), but only one of them can be "
                + "sent, with or without an application"
        case .missingFile(let name): "the DFU package lists '\(shown(name))' but does not hold it"
        case .emptyFile(let name): "the DFU package's file '\(shown(name))' is empty"
        case .sharedFile(let name): "the DFU package uses '\(shown(name))' for two purposes"
        case .unlistedFile(let name):
            "the DFU package holds '\(shown(name))', which its manifest does not list"
        case .wrongSizes(let name):
            "the DFU package's '\(shown(name))' is not as long as the SoftDevice and bootloader "
                + "sizes in the manifest say"
        }
    }

    private func shown(_ name: String) -> String { ZipError.shown(name) }
}
