import Base

/// Why trusted documents cannot be read or stored.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        case open, lock, read, write, sync, rename, remove
    }

    package let operation: Operation
    let name: String
    /// The system's error number.
    let code: CInt

    package init(_ operation: Operation, _ name: String, code: CInt) {
        self.operation = operation
        self.name = name
        self.code = code
    }

    package var description: String {
        "cannot \(operation.rawValue) \(name.visible): \(FileFault(code: code))"
    }
}
