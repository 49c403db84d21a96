import Base
import CLinux
import Glibc

/// A descriptor of the operating system that arrived with a message, or is sent with one; closed
/// together with its owner.
package final class UnixDescriptor: Sendable, Hashable {
    private let number: Monitor<CInt?>

    /// Takes over the descriptor: its previous owner must not close it.
    package init(owning descriptor: CInt) { number = Monitor(descriptor) }

    deinit {
        if let descriptor = take() { close(descriptor) }
    }

    /// Gives up the descriptor permanently; nil when this was done before.
    package func take() -> CInt? {
        number.withLock { number in
            defer { number = nil }
            return number
        }
    }

    /// Lends the descriptor; nil when it was taken.
    func lend<R>(_ body: (CInt) -> R) -> R? { number.withLock { $0.map(body) } }

    /// Two connected sockets that preserve packet boundaries and never block.
    package static func packetPair() -> (ours: UnixDescriptor, theirs: UnixDescriptor)? {
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return nil }
        return (UnixDescriptor(owning: pair[0]), UnixDescriptor(owning: pair[1]))
    }

    package static func == (left: UnixDescriptor, right: UnixDescriptor) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
