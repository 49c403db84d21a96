import BlueZ
import Glibc

/// The service's end of an acquired socket: it never blocks, and drops what does not fit.
final class FakePacketSocket {
    /// The size of bluetoothd's buffer: longer packets are cut.
    private static let longest = 512

    private var descriptor: CInt?
    private let watch: EventLoop.WatchID
    private let loop: EventLoop
    private let onClose: () -> Void
    var packet: ([UInt8]?) -> Void
    /// Packets that were dropped because the other end was too slow.
    private(set) var dropped = 0

    init(
        _ descriptor: CInt,
        _ watch: EventLoop.WatchID,
        _ loop: EventLoop,
        onClose: @escaping () -> Void,
        packet: @escaping ([UInt8]?) -> Void
    ) {
        self.descriptor = descriptor
        self.watch = watch
        self.loop = loop
        self.onClose = onClose
        self.packet = packet
    }

    deinit { if let descriptor { Glibc.close(descriptor) } }

    var isOpen: Bool { descriptor != nil }

    /// Reads one packet per turn, like bluetoothd; an empty one counts as the end.
    ///
    /// False when there was none.
    @discardableResult
    func read() -> Bool {
        guard let descriptor else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.longest)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            packet(Array(buffer[..<count]))
            return true
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        close()
        packet(nil)
        return false
    }

    func send(_ bytes: [UInt8]) {
        guard let descriptor, !bytes.isEmpty else { return }
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
        }
        if count < 0 { dropped += 1 }
    }

    /// Closes the socket, so that the other end gets a hang-up.
    func close() {
        guard let descriptor else { return }
        self.descriptor = nil
        loop.unwatch(watch)
        Glibc.close(descriptor)
        onClose()
    }
}
