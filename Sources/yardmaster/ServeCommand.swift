import CLinux
import Commands
import Glibc
import Operations
import Rollout
import Show
import Site
import Store
import Synchronization

/// `serve`: the pages of this machine's rollouts, for browsers and programs.
///
/// Only for reading, unless a list of tokens permits more.
struct ServeCommand {
    private let journal: StandingJournal
    private let listen: [String]
    private let hosts: [String]
    private let gate: LiveGate
    /// Requests from the pages of a gateway apply to its fleet.
    private let fleet: FleetAccess?
    private let standings: Standings
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        journal = StandingJournal(
            state: try CommonOptions.stateDirectory(invocation, context),
            flags: PlaceFlags(invocation),
            shelf: PlanShelf()
        )
        listen = invocation[Command.listen]
        hosts = invocation[Command.host]
        gate = LiveGate(
            path: invocation[Command.access] ?? journal.state + "/access.yaml",
            isOpen: invocation[Command.open]
        )
        fleet = try FleetAccess.ofVerb(invocation, context, state: journal.state)
        standings = Standings(
            journal,
            fleet: try FleetAccess.ofLook(invocation, context, state: journal.state),
            context
        )
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let hasList = try gate.check()
        var sockets = try ListeningSocket.inherited(context)
        guard sockets.isEmpty || listen.isEmpty else {
            throw CommandError(
                .usage,
                "the service manager has passed sockets, and --listen names others",
                hint: "leave --listen out; the socket unit determines where pages are served"
            )
        }
        defer { for socket in sockets { socket.close() } }
        if sockets.isEmpty {
            for text in listen.isEmpty ? [ListeningSocket.usual] : listen {
                sockets.append(try ListeningSocket.open(text))
            }
        }
        let stop = Signals.catchThem()
        let queue = ControlQueue()
        let looks = standings.fleet == nil ? nil : LookQueue(standings)
        let pages = LivePages(journal, LiveHost(names: hosts), gate, queue, looks, context)
        var servers: [WebServer] = []
        defer { for server in servers { server.stop() } }
        for socket in sockets {
            do throws(WebError) {
                servers.append(
                    try WebServer.start(on: socket.descriptor) { [isNetwork = socket.isNetwork] in
                        pages.answer($0, checksHost: isNetwork)
                    }
                )
            } catch {
                throw CommandError(
                    .unavailable,
                    "pages cannot be served",
                    because: [error.words],
                    hint: "apt-get install libmicrohttpd12"
                )
            }
        }
        if !common.isQuiet {
            let whom = hasList ? ", for people with a token" : ""
            for socket in sockets { context.console.note("serving on \(socket.name)\(whom)\n") }
        }
        // Requests from the pages of a gateway apply to its fleet.
        let control = fleet.map { FleetControl(access: $0) }
        async let acts: Void = queue.work(OperatorRequests(state: journal.state, fleet: control))
        async let answers: Void? = looks?.work()
        await Self.work(pages, servers, until: stop)
        // Requests that wait for an answer get it, and then the servers can be stopped.
        queue.finish()
        looks?.finish()
        await acts
        _ = await answers
        return Signals.exitCode ?? .done
    }

    /// Checks the journal once a second, until a signal arrives.
    private static func work(
        _ pages: LivePages,
        _ servers: [WebServer],
        until stop: StopSignal
    ) async {
        let beats = Mutex(0)
        let (ends, end) = AsyncStream<Void>.makeStream()
        let pulse = Pulse.start(isSteady: true) {
            if stop.isRequested { end.finish() }
            let beat = beats.withLock { beats in
                beats += 1
                return beats
            }
            guard beat.isMultiple(of: Pulse.perSecond) else { return }
            for server in servers {
                server.tick()
                server.endStreams { pages.gate.mayRead($0) }
            }
            if servers.contains(where: { $0.streamCount > 0 }), let change = pages.change() {
                for server in servers { server.announce(change) }
            }
        }
        for await _ in ends {}
        pulse.stop()
    }
}
