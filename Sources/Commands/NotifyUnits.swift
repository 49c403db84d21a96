/// The systemd units for notices: one for a failed service of this program, one that sends notices
/// again.
package struct NotifyUnits: Sendable {
    private let program: String

    /// `program` is the absolute path of the binary.
    package init(program: String) { self.program = program }

    package var failure: ServiceUnits.Unit {
        ServiceUnits.Unit(
            name: "yardmaster-failure@.service",
            text: """
                # yardmaster-failure@.service: tells somebody that the unit %i has failed.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Tell that %i has failed
                Documentation=man:yardmaster(1)

                [Service]
                Type=oneshot
                ExecStart=\(ServiceUnits.word(program)) notify failure %i
                \(common)
                """
        )
    }

    package var service: ServiceUnits.Unit {
        ServiceUnits.Unit(
            name: "yardmaster-notify.service",
            text: """
                # yardmaster-notify.service: tells again what did not arrive.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Tell again what Yardmaster's notices did not bring home
                Documentation=man:yardmaster(1)
                Wants=network-online.target
                After=network-online.target
                ConditionPathExists=/var/lib/yardmaster/journal.sqlite

                [Service]
                Type=oneshot
                ExecStart=\(ServiceUnits.word(program)) notify send --quiet
                \(common)
                """
        )
    }

    package var timer: ServiceUnits.Unit {
        ServiceUnits.Unit(
            name: "yardmaster-notify.timer",
            text: """
                # yardmaster-notify.timer: starts yardmaster-notify.service every five minutes.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Look for notices that did not arrive
                Documentation=man:yardmaster(1)

                [Timer]
                OnBootSec=5min
                OnUnitInactiveSec=5min
                AccuracySec=30s

                [Install]
                WantedBy=timers.target

                """
        )
    }

    /// The same sandbox as for a run: a notice contains text from the air and from other programs.
    ///
    /// A mail program that runs with the rights of another user needs a drop-in (docs/operations.md).
    private var common: String {
        """
        TimeoutStartSec=10min
        User=yardmaster
        Group=yardmaster
        StateDirectory=yardmaster
        StateDirectoryMode=0750
        UMask=0027
        StandardOutput=journal
        StandardError=journal
        SyslogIdentifier=yardmaster
        \(ServiceUnits.sandbox(home: "yes"))
        LimitCORE=0

        """
    }
}
