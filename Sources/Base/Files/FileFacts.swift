import Glibc

/// What the system knows about a file, a directory or a link.
package struct FileFacts: Sendable, Equatable {
    package enum Kind: Sendable {
        case file
        case folder
        case link
        case other
    }

    package let kind: Kind
    package let size: Int
    package let owner: UInt32
    package let group: UInt32

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        size = Int(status.st_size)
        owner = status.st_uid
        group = status.st_gid
    }

    /// The facts about what is open.
    init(of descriptor: CInt) throws(FileFault) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileFault(code: errno) }
        self.init(status)
    }
}
