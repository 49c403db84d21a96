import BlueZ
import DBus
import Domain
import Radio
import Simulation
import Threads

/// The link of a real central to a simulated module, for as long as it stands.
///
/// What the central asks is asked of the module over simulated air, one thing after another, with
/// the MTU of the real link.
final class LinkSession: Sendable {
    let central: ObjectPath
    private let requests: AsyncStream<HostRequest>
    private let entrance: AsyncStream<HostRequest>.Continuation
    /// Let go only when the real link is gone: bluetoothd 5.82 dies of a socket that is closed
    /// before.
    private let sockets = Monitor<[PacketSocket]>([])

    init(central: ObjectPath) {
        self.central = central
        (requests, entrance) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(4_096))
    }

    /// Takes a request up, unless too many wait or the link is over.
    func take(_ request: HostRequest) {
        guard case .enqueued = entrance.yield(request) else { return request.endUnheard() }
    }

    /// No request comes any more: the central is gone.
    func end() { entrance.finish() }

    /// Serves until the central or the module ends it.
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

    /// Answers a request; what then remains to be done on the side.
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

    /// Hands out a socket, and passes on what the module notifies for as long as it is open.
    private func subscribed(
        _ request: HostRequest,
        _ subscription: any Subscription,
        _ place: LinkPlace
    ) -> (@Sendable () async -> Void)? {
        guard let (socket, theirs) = place.radio.socketPair(mtu: request.mtu) else {
            request.call.fail(ErrorReply("org.bluez.Error.Failed", "no socket"))
            return nil
        }
        // What comes back on it is the word that an indication was confirmed.
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

    /// False when the central does not listen any more.
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

/// Where a session takes place: the adapter outside, and the module's air inside.
struct LinkPlace: Sendable {
    let radio: BlueZ
    let depot: SimulatedDepot
    /// Both names: of the adapter outside and of its stand-in in the air.
    let adapter: String
    /// Under which address the module is heard in the air.
    let module: Peer
    /// The real link is paired by then: the one in the air does as the module wants.
    let bond: BondPolicy

    var time: VirtualTime { depot.simulation.time }

    /// A link in the air with the MTU of the real one.
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
