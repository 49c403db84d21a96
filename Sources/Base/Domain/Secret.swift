import Glibc

/// Bytes that must never be shown; printing one shows only that it exists.
///
/// Keys, tokens and passwords are kept in this type only: its bytes are overwritten when the last copy of it
/// is dropped.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let storage: SecretStorage

    /// The given array is overwritten, unless somebody else has it as well.
    package init(_ bytes: consuming [UInt8]) {
        storage = SecretStorage(bytes)
        bytes.wipe()
    }

    /// A secret whose bytes are in this storage.
    package init(_ storage: SecretStorage) { self.storage = storage }

    /// The only access to the bytes, which are overwritten afterwards; the caller is responsible for copies.
    package func withBytes<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        var bytes = storage.copy
        defer { bytes.wipe() }
        return try body(bytes)
    }

    package static func == (left: Secret, right: Secret) -> Bool {
        left.withBytes { own in right.withBytes { own == $0 } }
    }

    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The memory of one secret, which becomes zeros when nobody needs it any more.
@safe package final class SecretStorage: Sendable {
    // Written only before anybody else has this object, and when nobody has it any more.
    private nonisolated(unsafe) let memory: UnsafeMutableBufferPointer<UInt8>
    private let isOwn: Bool

    fileprivate init(_ bytes: borrowing [UInt8]) {
        unsafe memory = .allocate(capacity: bytes.count)
        isOwn = true
        for index in bytes.indices { unsafe memory.initializeElement(at: index, to: bytes[index]) }
    }

    /// Memory of the caller's, which holds the secret and outlives this object.
    package init(in memory: UnsafeMutableBufferPointer<UInt8>) {
        unsafe self.memory = memory
        isOwn = false
    }

    deinit {
        unsafe wipeMemory(UnsafeMutableRawBufferPointer(memory))
        if isOwn { unsafe memory.deallocate() }
    }

    fileprivate var copy: [UInt8] { unsafe Array(memory) }
}

extension [UInt8] {
    /// Overwrites what was part of a secret; other copies of the array stay as they are.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { unsafe wipeMemory($0) }
    }
}

/// Writes zeros that the optimiser does not leave out, although nobody reads them.
private func wipeMemory(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    unsafe explicit_bzero(start, memory.count)
}
