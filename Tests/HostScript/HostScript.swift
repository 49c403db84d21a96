import Base
package import BlueZ
import RadioContract

/// One script of a client's calls, played to any service that is `org.bluez` on a bus.
///
/// The contract's peer and its central must exist. Calls, answers and signals are written to a
/// transcript.
package struct HostScript: Sendable {
    /// Events that the script cannot cause with calls.
    package enum Cause: Sendable { case peerLeaves, peerReturns, centralLeaves }

    /// The names of the script's objects, and its waiting times.
    package struct Settings: Sendable {
        package var adapter = "hci0"
        /// The peer's address.
        package var peer: String
        /// A scene is over when no message has arrived for this long.
        package var quiet = Duration.milliseconds(800)
        /// The number of seconds of the world in one second.
        package var pace = 1.0

        package init(peer: String) { self.peer = peer }
    }

    let bus: Connection
    let settings: Settings
    let transcript: Transcript
    let adapter: ObjectPath
    let peer: ObjectPath
    let cause: @Sendable (Cause) async -> Void
    /// The ends of sockets that the script keeps open.
    let sockets: HeldSockets

    /// Plays all scenes and returns the transcript's lines.
    package static func play(
        on bus: Connection,
        _ settings: Settings,
        told: @escaping @Sendable (String) -> Void = { _ in },
        cause: @escaping @Sendable (Cause) async -> Void
    ) async throws(BusError) -> [String] {
        let parts = settings.peer.split(separator: ":").joined(separator: "_")
        let adapter = ObjectPath("/org/bluez/" + settings.adapter) ?? .root
        guard let peer = adapter.appending("dev_" + parts) else { throw .disconnected }
        let transcript = Transcript(adapter: adapter, told: told)
        transcript.call(peer, "peer")
        let script = HostScript(
            bus: bus,
            settings: settings,
            transcript: transcript,
            adapter: adapter,
            peer: peer,
            cause: cause,
            sockets: HeldSockets(on: bus.loop, transcript)
        )
        for member in ["PropertiesChanged", "InterfacesAdded", "InterfacesRemoved"] {
            _ = try await bus.observe(SignalRule(from: "org.bluez", member: member)) {
                transcript.heard($0)
            }
        }
        await script.playCentral()
        await script.playPeripheral()
        return transcript.lines
    }

    // MARK: Calls

    /// Makes a call and waits for the answer; each of them gets a line.
    @discardableResult
    func call(
        _ member: String,
        _ interface: String,
        _ path: ObjectPath,
        _ arguments: DBusValue...,
        note: String = ""
    ) async -> [DBusValue]? {
        let call = MethodCall(
            member,
            of: interface.contains(".") ? interface : "org.bluez." + interface,
            at: path,
            on: "org.bluez",
            arguments,
            patience: .seconds(90)
        )
        let name = "\(member) \(transcript.name(of: path))" + (note.isEmpty ? "" : " " + note)
        transcript.add("call " + name)
        let began = EventLoop.now
        let (transcript, pace) = (transcript, settings.pace)
        let answer = await withCheckedContinuation { continuation in
            let (bus, loop) = (bus, bus.loop)
            loop.perform {
                bus.assumeIsolated {
                    $0.start(call) { result in
                        // Here, on the loop's thread, the answer is in the right order among the
                        // signals.
                        let took = began.duration(to: EventLoop.now) * pace
                        transcript.add("answer \(name): " + Self.text(result) + Self.text(took))
                        continuation.resume(returning: result)
                    }
                }
            }
        }
        return try? answer.get()
    }

    private static func text(_ result: Result<[DBusValue], BusError>) -> String {
        switch result {
        case .success(let values):
            return (["done"] + values.compactMap(Transcript.text)).joined(separator: " ")
        case .failure(.refused(let reply)):
            let name = reply.name.split(separator: ".").last ?? ""
            // The text of the bus's own errors depends on another library.
            guard reply.name.hasPrefix("org.bluez.") else { return String(name) }
            return "\(name): \(reply.message)"
        case .failure(let error): return "\(error)"
        }
    }

    /// The duration of a slow call, roughly; empty for a fast one.
    private static func text(_ took: Duration) -> String {
        let seconds = took.components.seconds
        return seconds < 5 ? "" : ", after about \((seconds + 5) / 10 * 10) s"
    }

    // MARK: Waiting

    /// Plays a scene, which ends when no more messages arrive.
    func scene(
        _ title: String,
        isBrief: Bool = false,
        _ body: () async -> Void
    ) async {
        transcript.begin(title, isBrief: isBrief)
        await body()
        await quiet()
    }

    /// Waits until no message has arrived for `settings.quiet`.
    func quiet() async {
        let deadline = EventLoop.now.advanced(by: .seconds(20))
        while EventLoop.now < deadline {
            let left = settings.quiet - transcript.lastChange.duration(to: EventLoop.now)
            guard left > .zero else { return }
            await pause(left)
        }
        transcript.add("(it does not become quiet)")
    }

    /// Waits for a line of this scene.
    func until(_ beginning: String) async {
        let deadline = EventLoop.now.advanced(by: .seconds(30))
        while !transcript.holds(beginning) {
            guard EventLoop.now < deadline else {
                return transcript.add("(it does not come: \(beginning))")
            }
            await pause(.milliseconds(20))
        }
    }

    private func pause(_ time: Duration) async {
        let loop = bus.loop
        await withCheckedContinuation { continuation in
            loop.perform {
                _ = loop.schedule(after: time) { continuation.resume() }
            }
        }
    }
}
