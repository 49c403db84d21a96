import Glibc

/// The error number of a failed call on a file.
package struct FileFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: CInt

    package init(code: CInt) { self.code = code }

    /// A pipe, a device or a directory is where a regular file is to be.
    package static let notAFile = FileFault(code: -1)

    package var description: String {
        switch code {
        case Self.notAFile.code: "it is no regular file"
        case ELOOP: "a link is in the way"
        default: unsafe String(cString: strerror(code))
        }
    }
}
