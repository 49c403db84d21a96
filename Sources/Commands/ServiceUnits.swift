import Base

/// The text of the systemd units for a rollout; this code installs nothing.
///
/// Without a rollout they are templates: `yardmaster@NAME.timer` runs `/etc/yardmaster/NAME.yaml`.
package struct ServiceUnits: Sendable {
    /// The facts of a manifest that its units need.
    package struct Rollout: Sendable {
        let name: String
        /// An absolute path.
        let manifest: String
        /// When its window opens, as calendar expressions; none without a window.
        package var opens: [String] = []
        /// The names of the credentials with its vehicles' secrets.
        package var credentials: [String] = []
        /// The time limit of a connection attempt, which a stop does not interrupt.
        package var connectTimeout = ServiceUnits.usualConnectTimeout
        package var needsNetwork = true
        /// Where each night's work comes from; nil for the manifest itself.
        package var server: Server?

        package init(name: String, manifest: String) {
            self.name = name
            self.manifest = manifest
        }
    }

    /// An update server that says what each night does.
    package struct Server: Sendable {
        let name: String
        /// The manifest that `sync` writes, an absolute path.
        let manifest: String
        /// Whether each run begins with the work of its evening; false where the manifest says when.
        let beginsAgain: Bool

        package init(_ name: String, writing manifest: String, beginsAgain: Bool) {
            (self.name, self.manifest, self.beginsAgain) = (name, manifest, beginsAgain)
        }
    }

    /// One unit file.
    package struct Unit: Sendable, Equatable {
        package let name: String
        package let text: String
    }

    static let usualConnectTimeout = Duration.seconds(30)
    /// The folder of credentials, which only root can read.
    static let credentials = "/etc/yardmaster/credentials"
    /// Worth another attempt soon: Bluetooth or the network is not ready yet, or another run is
    /// active.
    private static let passing: [ExitCode] = [.unavailable, .busy]
    /// No person is needed: the next run continues with the remaining work.
    static let fine: [ExitCode] = [.someMissed, .workLeft, .interrupted, .terminated]
    /// The time in which a transfer without progress ends, with a margin.
    private static let stopMargin = Duration.seconds(90)
    /// The time for the report to an update server after a run.
    private static let reportMargin = Duration.seconds(1_200)

    private let program: String
    private let rollout: Rollout?
    private let profiles: String?

    /// `program` is the absolute path of the binary, `profiles` the path of the operator's own
    /// profiles.
    package init(program: String, rollout: Rollout? = nil, profiles: String? = nil) {
        self.program = program
        self.rollout = rollout
        self.profiles = profiles
    }

    private var stem: String { rollout.map { "yardmaster-\($0.name)" } ?? "yardmaster@" }
    /// The rollout's name; in a template, the instance's name.
    private var name: String { rollout?.name ?? "%i" }

    package var service: Unit {
        Unit(name: stem + ".service", text: serviceText)
    }

    package var timer: Unit {
        Unit(name: stem + ".timer", text: timerText)
    }

    // MARK: Service

    private var serviceText: String {
        let manifest = rollout.map { Self.word($0.manifest) } ?? "/etc/yardmaster/%i.yaml"
        let network = rollout?.needsNetwork ?? true ? " network-online.target" : ""
        let connect = rollout?.connectTimeout ?? Self.usualConnectTimeout
        let margin = Self.stopMargin + (rollout?.server == nil ? .zero : Self.reportMargin)
        let stop = (connect + margin).nanoseconds / 1_000_000_000
        let grave = ExitCode.allCases.filter {
            $0 != .done && !Self.fine.contains($0) && !Self.passing.contains($0)
        }
        // A manifest in a user's home must be readable.
        let home =
            [rollout?.manifest, profiles].compactMap { $0 }.contains(where: Self.isAtHome)
            ? "read-only" : "yes"
        let own = profiles.map { "--profiles \(Self.word($0)) " } ?? ""
        let work = rollout?.server.map { Self.word($0.manifest) }
        let again = rollout?.server?.beginsAgain == true ? "--again " : ""
        return """
            # \(stem).service: one run of the rollout that \(manifest) describes.
            # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
            [Unit]
            Description=Yardmaster rollout \(name)
            Documentation=man:yardmaster(1)
            Wants=bluetooth.service\(network)
            After=bluetooth.service dbus.service time-sync.target\(network)
            # What passes by itself is tried again: Bluetooth that is not there yet, another run.
            StartLimitIntervalSec=3h
            StartLimitBurst=12
            # Tells those whom /etc/yardmaster/notify.yaml or the manifest names.
            OnFailure=yardmaster-failure@%n.service

            [Service]
            Type=oneshot
            # More flags, such as YARDMASTER_FLAGS="--events /var/lib/yardmaster/events.jsonl"
            EnvironmentFile=-/etc/default/yardmaster
            \(conditions(own, manifest))\
            ExecStart=\(Self.word(program)) run \(again)--report %S/yardmaster/reports/\(name).html \
            \(own)$YARDMASTER_FLAGS \(work ?? manifest)
            \(report(own, manifest))\
            # A run takes as long as its window lets it.
            TimeoutStartSec=infinity

            # TERM: nothing new is begun, the object under way is finished, the link is closed.
            KillMode=mixed
            KillSignal=SIGTERM
            TimeoutStopSec=\(stop)s

            # Not a failure: some vehicles were away, the window closed with work left, INT, TERM.
            SuccessExitStatus=\(Self.numbers(Self.fine))
            Restart=on-failure
            RestartSec=5min
            # These want a person first; yardmaster(1) says what each means.
            RestartPreventExitStatus=\(Self.numbers(grave))

            User=yardmaster
            Group=yardmaster
            SupplementaryGroups=bluetooth
            StateDirectory=yardmaster yardmaster/reports
            StateDirectoryMode=0750
            UMask=0027
            \(folder)\(credentialLines)

            # Standard error gets the journal's own fields: journalctl YARDMASTER_VEHICLE=bus-17
            StandardOutput=journal
            StandardError=journal
            SyslogIdentifier=yardmaster

            \(Self.sandbox(home: home))
            # A secret must not lie about in a core file.
            LimitCORE=0

            """
    }

    private func sync(_ own: String, _ manifest: String, at server: Server) -> String {
        "-\(Self.word(program)) sync --quiet --server \(Self.word(server.name)) \(own)\(manifest)"
    }

    /// Takes the night's work; a run begins only when there is some, of now or of an earlier evening.
    private func conditions(_ own: String, _ manifest: String) -> String {
        guard let server = rollout?.server else { return "" }
        return """
            # A server that does not answer stops no night: there may be work from an earlier one.
            ExecCondition=\(sync(own, manifest, at: server))
            ExecCondition=/usr/bin/test -e \(Self.word(server.manifest))

            """
    }

    /// Tells the server what the run has shown, however it ended.
    private func report(_ own: String, _ manifest: String) -> String {
        guard let server = rollout?.server else { return "" }
        return "ExecStopPost=\(sync(own, manifest, at: server))\n"
    }

    /// The folder that `sync` writes the night's manifest into.
    private var folder: String {
        guard let path = rollout?.server?.manifest else { return "" }
        let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return "ReadWritePaths=\(Self.word(folder.isEmpty ? "/" : String(folder)))\n"
    }

    /// The settings that restrict a service of this program to its own files.
    static func sandbox(home: String) -> String {
        """
        # It talks to the system bus and to image servers, and writes its state directory.
        CapabilityBoundingSet=
        AmbientCapabilities=
        NoNewPrivileges=yes
        ProtectSystem=strict
        ProtectHome=\(home)
        PrivateTmp=yes
        PrivateDevices=yes
        DevicePolicy=closed
        ProtectProc=invisible
        ProtectClock=yes
        ProtectHostname=yes
        ProtectControlGroups=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged
        SystemCallErrorNumber=EPERM
        RemoveIPC=yes
        """
    }

    private var credentialLines: String {
        guard let rollout else {
            return """
                # A file NAME in there is what the fleet list calls credential:depot_NAME. Each rollout has
                # a folder of its own; without one, the rollout has no credentials.
                LoadCredential=depot:\(Self.credentials)/%i
                SetCredential=depot:none
                """
        }
        let names = Set(rollout.credentials).sorted()
        guard !names.isEmpty else { return "# No vehicle has its secret in a credential." }
        let lines = names.map { "LoadCredential=\($0):\(Self.credentials)/\($0)" }
        return (["# What the fleet list calls credential:NAME."] + lines).joined(separator: "\n")
    }

    // MARK: Timer

    private var timerText: String {
        let opens = rollout?.opens ?? []
        let lines = (opens.isEmpty ? ["*-*-* 01:00:00"] : opens).map { "OnCalendar=\($0)" }
        let when =
            opens.isEmpty
            ? "# Change it to your nights; a window in the manifest holds besides."
            : "# When the window of the manifest opens."
        return """
            # \(stem).timer: starts \(stem).service each night.
            # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
            [Unit]
            Description=Nightly Yardmaster rollout \(name)
            Documentation=man:yardmaster(1)

            [Timer]
            \(when)
            \(lines.joined(separator: "\n"))
            AccuracySec=30s
            # A night that was missed is made up for when the machine is on again.
            Persistent=true

            [Install]
            WantedBy=timers.target

            """
    }

    // MARK: Formatting

    static func numbers(_ codes: [ExitCode]) -> String {
        codes.map { String($0.rawValue) }.joined(separator: " ")
    }

    static func isAtHome(_ path: String) -> Bool {
        ["/home", "/root", "/run/user"].contains { path.hasPrefix($0 + "/") }
    }

    /// A word in a systemd command line: specifiers, variables and quotes are escaped.
    package static func word(_ text: String) -> String {
        var word = ""
        var isPlain = !text.isEmpty
        for character in text {
            switch character {
            case "%": word += "%%"
            case "$": word += "$$"
            case "\\", "\"":
                word += "\\\(character)"
                isPlain = false
            case "\n":
                word += "\\n"
                isPlain = false
            default:
                word.append(character)
                if character.isWhitespace || character == "'" || character == ";" {
                    isPlain = false
                }
            }
        }
        return isPlain ? word : "\"\(word)\""
    }
}
