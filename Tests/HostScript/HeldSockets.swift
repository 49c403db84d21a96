import Base
import BlueZ
import Glibc

/// Our ends of packet sockets; the packets that arrive are written to the transcript.
final class HeldSockets: Sendable {
    private struct Held: Sendable {
        let descriptor: CInt
        let watch: EventLoop.WatchID
    }

    private let loop: EventLoop
    private let transcript: Transcript
    private let held = Monitor<[String: Held]>([:])
    private let ended = Monitor<[String]>([])

    init(on loop: EventLoop, _ transcript: Transcript) {
        self.loop = loop
        self.transcript = transcript
    }

    func keep(_ socket: UnixDescriptor, as name: String) {
        guard let descriptor = socket.take() else { return }
        loop.perform { [self] in
            let watch = loop.watch(descriptor, for: .reading) { [weak self] _ in self?.read(name) }
            held.withLock { $0[name] = Held(descriptor: descriptor, watch: watch) }
        }
    }

    private func read(_ name: String) {
        guard let socket = held.withLock({ $0[name] }) else { return }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(socket.descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 { return transcript.add("packet by \(name) [\(Hex.text(buffer[..<count]))]") }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        end(name)
        ended.withLock { $0.append(name) }
    }

    func send(_ bytes: [UInt8], by name: String) {
        guard let socket = held.withLock({ $0[name] }) else { return }
        _ = bytes.withUnsafeBytes {
            Glibc.send(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
    }

    /// Writes down which sockets the other side has closed: their order relative to the messages of
    /// the bus is undefined.
    func tellEnds() {
        let names = ended.withLock { ended in
            defer { ended = [] }
            return ended.sorted()
        }
        transcript.add("ended: " + names.joined(separator: " "))
    }

    func close(_ name: String) {
        transcript.add("close \(name)")
        loop.perform { [self] in end(name) }
    }

    private func end(_ name: String) {
        guard let socket = held.withLock({ $0.removeValue(forKey: name) }) else { return }
        loop.unwatch(socket.watch)
        _ = Glibc.close(socket.descriptor)
    }
}
