import Base
import CLinux
import Glibc
package import Radio

/// One end of a packet socket that BlueZ or this program has created, valid for one link only.
///
/// Writing goes directly to the kernel on the calling thread and never blocks. The loop reads
/// packets as they arrive, because BlueZ discards what a full socket does not accept.
package final class PacketSocket: Sendable {
    package enum Sent: Equatable { case done, full, gone }

    /// Whether the receiver of packets takes more of them immediately, or is busy with this one.
    package enum Appetite: Sendable { case more, busy }

    private struct State: Sendable {
        var descriptor: CInt?
        var watch: EventLoop.WatchID?
        /// The tasks that wait for room, in their order.
        var waiting: [Once<Void>] = []
        var interest: EventLoop.Readiness = []
    }

    private let loop: EventLoop
    private let state: Monitor<State>
    /// The most bytes in one packet.
    package let maximumLength: Int

    /// Takes over a descriptor from BlueZ with an MTU; nil when either is invalid.
    package init?(_ descriptor: UnixDescriptor, mtu: Int, on loop: EventLoop) {
        guard (23...517).contains(mtu), let number = descriptor.take() else { return nil }
        let flags = fcntl(number, F_GETFL)
        _ = fcntl(number, F_SETFL, flags | O_NONBLOCK)
        self.loop = loop
        maximumLength = min(mtu - 3, 512)
        state = Monitor(State(descriptor: number))
    }

    deinit { close() }

    // MARK: Reading

    /// Reads packets and reports the end, once, on the loop's thread.
    package func read(
        _ packet: @escaping @Sendable ([UInt8]) -> Appetite,
        onEnd: @escaping @Sendable () -> Void
    ) {
        loop.perform { [weak self] in
            guard let self else { return }
            state.withLock { state in
                guard let descriptor = state.descriptor else { return }
                state.interest = .reading
                state.watch = loop.watch(descriptor, for: .reading) { [weak self] ready in
                    self?.serve(ready, packet, onEnd)
                }
            }
        }
    }

    /// Calls `handler` on the loop's thread when the other end is closed.
    package func onHangUp(_ handler: @escaping @Sendable () -> Void) {
        read({ _ in .more }, onEnd: handler)
    }

    private func serve(
        _ ready: EventLoop.Readiness,
        _ packet: @Sendable ([UInt8]) -> Appetite,
        _ onEnd: @Sendable () -> Void
    ) {
        if ready.contains(.writing) { letWritersOn() }
        guard ready.contains(.reading) || ready.contains(.hungUp) else { return }
        while true {
            switch take() {
            case .nothing: return
            case .packet(let bytes):
                // The next packet is read after this one was handled: that saves a system call.
                if packet(bytes) == .busy, !ready.contains(.hungUp) { return }
            case .end:
                close()
                return onEnd()
            }
        }
    }

    private enum Taken {
        case packet([UInt8])
        case nothing
        /// The end of the stream, or a reset when the other end had unread packets.
        case end
    }

    /// The longest packet that BlueZ makes is 514 bytes.
    private static let longest = 1_024

    private func take() -> Taken {
        state.withLock { state in
            // Closed by this program: this end is not reported.
            guard let descriptor = state.descriptor else { return .nothing }
            return withUnsafeTemporaryAllocation(byteCount: Self.longest, alignment: 1) { buffer in
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 {
                    return .packet([UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                }
                return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
            }
        }
    }

    // MARK: Writing

    /// Sends one packet, or returns why it could not be sent immediately.
    package func trySend(_ bytes: [UInt8]) -> Sent {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return .gone }
            while true {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                if count >= 0 { return .done }
                switch errno {
                case EINTR: continue
                case EAGAIN, ENOBUFS: return .full
                default: return .gone
                }
            }
        }
    }

    /// Whether the other end has taken all packets.
    package var isDrained: Bool {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return true }
            return unread_bytes(descriptor) <= 0
        }
    }

    /// Returns when there may be room again; throws `linkLost` once the socket is closed.
    package func waitForRoom() async throws(RadioError) {
        let once = Once<Void>()
        let isOpen = state.withLock { state in
            guard state.descriptor != nil else { return false }
            state.waiting.append(once)
            return true
        }
        guard isOpen else { throw .linkLost }
        loop.perform { [weak self] in self?.watchForRoom() }
        try await once.outcome()
    }

    private func watchForRoom() {
        state.withLock { state in
            guard let descriptor = state.descriptor, !state.waiting.isEmpty else { return }
            state.interest.insert(.writing)
            if let watch = state.watch {
                loop.setInterest(state.interest, of: watch)
            } else {
                state.watch = loop.watch(descriptor, for: state.interest) { [weak self] ready in
                    self?.roomOrEnd(ready)
                }
            }
        }
    }

    private func roomOrEnd(_ ready: EventLoop.Readiness) {
        ready.contains(.writing) && !ready.contains(.hungUp) ? letWritersOn() : close()
    }

    private func letWritersOn() {
        let waiting = state.withLock { state -> [Once<Void>] in
            state.interest.remove(.writing)
            if let watch = state.watch { loop.setInterest(state.interest, of: watch) }
            defer { state.waiting = [] }
            return state.waiting
        }
        for once in waiting { once.settle(.success(())) }
    }

    // MARK: Closing

    package var isOpen: Bool { state.withLock { $0.descriptor != nil } }

    /// Reads the packets that have arrived, closes, and then calls `handler` on the loop's thread.
    ///
    /// `read` no longer reports an end afterwards.
    package func finish(
        _ packet: @escaping @Sendable ([UInt8]) -> Void,
        _ handler: @escaping @Sendable () -> Void
    ) {
        loop.perform { [self] in
            while case .packet(let bytes) = take() { packet(bytes) }
            close()
            handler()
        }
    }

    /// Closes the socket; may be called from any thread, and repeatedly.
    package func close() {
        let (descriptor, watch, waiting) = state.withLock { state in
            defer {
                state.descriptor = nil
                state.watch = nil
                state.waiting = []
            }
            return (state.descriptor, state.watch, state.waiting)
        }
        for once in waiting { once.settle(.failure(.linkLost)) }
        guard let descriptor else { return }
        guard let watch else {
            _ = Glibc.close(descriptor)
            return
        }
        // The loop must not poll a descriptor number that another file may have by then.
        if loop.isIsolatingCurrentContext() == true {
            loop.unwatch(watch)
            _ = Glibc.close(descriptor)
        } else {
            // The other end notices it immediately all the same.
            shutdown(descriptor, CInt(SHUT_RDWR))
            loop.perform { [loop] in
                loop.unwatch(watch)
                _ = Glibc.close(descriptor)
            }
        }
    }
}
