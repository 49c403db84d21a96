import CLinux
package import DBus
import Domain
import Glibc
package import Radio
import Threads

/// One end of a packet socket that BlueZ or we have handed out, good for one link only.
///
/// Writing goes straight to the kernel from whichever thread it is asked on: it never blocks.
/// Reading is done by the loop as packets come, because BlueZ throws away what a full socket does
/// not take.
package final class PacketSocket: Sendable {
    package enum Sent: Equatable { case done, full, gone }

    private struct State: Sendable {
        var descriptor: CInt?
        var watch: EventLoop.WatchID?
        /// Those who wait for room, in their order.
        var waiting: [Once<Void>] = []
        var interest: EventLoop.Readiness = []
    }

    private let loop: EventLoop
    private let state: Monitor<State>
    /// What one packet may carry.
    package let maximumLength: Int

    /// Takes over a descriptor that came from BlueZ with an MTU; nil when either makes no sense.
    package init?(_ descriptor: UnixDescriptor, mtu: Int, on loop: EventLoop) {
        guard (23...517).contains(mtu), let number = descriptor.take() else { return nil }
        let flags = fcntl(number, F_GETFL)
        _ = fcntl(number, F_SETFL, flags | O_NONBLOCK)
        self.loop = loop
        maximumLength = min(mtu - 3, 512)
        state = Monitor(State(descriptor: number))
    }

    deinit { close() }

    /// Reads packets and tells the end, once, on the loop's thread.
    package func read(
        _ packet: @escaping @Sendable ([UInt8]) -> Void,
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

    private func serve(
        _ ready: EventLoop.Readiness,
        _ packet: @Sendable ([UInt8]) -> Void,
        _ onEnd: @Sendable () -> Void
    ) {
        if ready.contains(.writing) { letWritersOn() }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while true {
            let count = state.withLock { state -> Int in
                // Closed by us: that is no end to be told.
                guard let descriptor = state.descriptor else { return -1 }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                return count < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : max(0, count)
            }
            if count < 0 { return }
            guard count > 0 else {
                // An end of file, or a reset when packets were left unread over there.
                close()
                return onEnd()
            }
            packet(Array(buffer[..<count]))
        }
    }

    /// Sends one packet, or says why not at once.
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

    /// Returns when there may be room again, or throws `linkLost` once the socket is gone.
    package func waitForRoom() async throws(RadioError) {
        let once = Once<Void>()
        let isOpen = state.withLock { state in
            guard state.descriptor != nil else { return false }
            state.waiting.append(once)
            return true
        }
        guard isOpen else { throw .linkLost }
        loop.perform { [weak self] in self?.watchForRoom() }
        try await once.outcome(within: .seconds(3_600), on: loop)
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

    /// Tells `handler` on the loop's thread when the other end hangs up.
    package func onHangUp(_ handler: @escaping @Sendable () -> Void) {
        read({ _ in }, onEnd: handler)
    }

    package var isOpen: Bool { state.withLock { $0.descriptor != nil } }

    /// From any thread, and again.
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
        // The loop must not poll a number that is somebody else's by then.
        if loop.isIsolatingCurrentContext() == true {
            loop.unwatch(watch)
            _ = Glibc.close(descriptor)
        } else {
            // The other end hears of it at once all the same.
            shutdown(descriptor, CInt(SHUT_RDWR))
            loop.perform { [loop] in
                loop.unwatch(watch)
                _ = Glibc.close(descriptor)
            }
        }
    }
}
