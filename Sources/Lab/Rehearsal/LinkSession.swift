import Base
import BlueZ
import Radio
import Simulation

/// The link of a real central to a simulated module.
///
/// Requests of the central are passed to the module over simulated air, one after another, with the
/// MTU of the real link.
final class LinkSession: Sendable {
    let central: ObjectPath
    private let requests: AsyncStream<HostRequest>
    private let entrance: AsyncStream<HostRequest>.Continuation
    /// Closed only when the real link is gone: bluetoothd 5.82 crashes when a socket is closed
    /// before.
    private let sockets = Monitor<[PacketSocket]>([])

    init(central: ObjectPath) {
        self.central = central
        (requests, entrance) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(4_096))
    }

    /// Accepts a request, unless too many wait or the link is gone.
    func take(_ request: HostRequest) {
        guard case .enqueued = entrance.yield(request) else { return request.endUnheard() }
    }

    /// The central has disconnected, so no more requests arrive.
    func end() { entrance.finish() }

    /// Serves until the central or the module ends the link.
    func run(_ place: LinkPlace) async {
        await withTaskGroup(of: Void.self) { group in
            var link: SimulatedLink?
            for await request in requests {
                if link == nil {
                    link = await place.connect(mtu: request.mtu)
                    guard let made = link else {
                        request.endUnheard()
                        break
                    }
                    group.addTask { await self.watch(made, place) }
                }
                guard let link else {
                    request.endUnheard()
                    break
                }
                if let pump = await answer(request, on: link, place) {
                    group.addTask { await pump() }
                }
            }
            entrance.finish()
            await link?.disconnect()
            group.cancelAll()
            await place.radio.disconnectCentral(central)
        }
        for socket in sockets.withLock({ $0 }) { socket.close() }
    }

    /// Ends the session when the module has ended the link.
    private func watch(_ link: SimulatedLink, _ place: LinkPlace) async {
        while !Task.isCancelled, await link.isUp {
            await place.time.sleep(for: .milliseconds(20), "the end of a link")
        }
        entrance.finish()
    }

    // MARK: Requests

    /// Answers a request; returns the work that remains to be done in parallel.
    private func answer(
        _ request: HostRequest,
        on link: SimulatedLink,
        _ place: LinkPlace
    ) async -> (@Sendable () async -> Void)? {
        let deadline = place.time.now.advanced(by: .seconds(30))
        let call = request.call
        do throws(RadioError) {
            switch request.kind {
            case .read(let offset):
                let value = try await link.read(request.characteristic, before: deadline)
                guard offset <= value.count else {
                    call.fail(ErrorReply("org.bluez.Error.InvalidOffset", ""))
                    return nil
                }
                call.reply(.bytes(Array(value[max(0, offset)...])))
            case .write(let bytes):
                try await link.write(bytes, to: request.characteristic, before: deadline)
                call.reply()
            case .command(let bytes):
                try await link.send(bytes, to: request.characteristic)
                call.reply()
            case .subscribe:
                let subscription = try await link.subscribe(
                    to: request.characteristic,
                    before: deadline
                )
                return subscribed(request, subscription, place)
            }
        } catch .linkLost {
            request.endUnheard()
        } catch {
            call.fail(ErrorReply(error))
        }
        return nil
    }

    /// Provides a socket, and passes on the module's notifications while it is open.
    private func subscribed(
        _ request: HostRequest,
        _ subscription: any Subscription,
        _ place: LinkPlace
    ) -> (@Sendable () async -> Void)? {
        guard let (socket, theirs) = place.radio.socketPair(mtu: request.mtu) else {
            request.call.fail(ErrorReply("org.bluez.Error.Failed", "no socket"))
            return nil
        }
        // Packets that arrive on it only report that an indication was confirmed.
        socket.onHangUp {}
        sockets.withLock { $0.append(socket) }
        request.call.reply(.descriptor(theirs), .uint16(UInt16(request.mtu)))
        return {
            while !Task.isCancelled {
                let deadline = place.time.now.advanced(by: .seconds(60))
                do throws(RadioError) {
                    let bytes = try await subscription.next(before: deadline)
                    guard try await Self.pass(bytes, to: socket) else { break }
                } catch .timedOut {
                    continue
                } catch { break }
            }
        }
    }

    /// False when the central no longer listens.
    private static func pass(
        _ bytes: [UInt8],
        to socket: PacketSocket
    ) async throws(RadioError) -> Bool {
        // An empty packet would be taken for the end of the socket.
        guard !bytes.isEmpty else { return true }
        while true {
            switch socket.trySend(bytes) {
            case .done: return true
            case .gone: return false
            case .full: try await socket.waitForRoom()
            }
        }
    }
}

/// Where a session runs: the adapter outside, and the module's air inside.
struct LinkPlace: Sendable {
    let radio: BlueZ
    let depot: SimulatedDepot
    /// The name both of the adapter outside and of its counterpart in the air.
    let adapter: String
    /// The address of the module in the air.
    let module: Peer
    /// The bond policy in the air.
    ///
    /// The real link is already paired, so this one follows the module's requirements.
    let bond: BondPolicy

    var time: VirtualTime { depot.simulation.time }

    /// Makes a link in the air with the MTU of the real one.
    func connect(mtu: Int) async -> SimulatedLink? {
        await depot.simulation.air.setMTU(mtu, of: adapter)
        let link = try? await depot.radio(adapter).connect(
            to: module,
            bond,
            before: time.now.advanced(by: .seconds(5))
        )
        return link as? SimulatedLink
    }
}
