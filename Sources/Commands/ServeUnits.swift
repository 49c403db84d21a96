/// The systemd units for the pages: a permanent socket, and the service that it starts.
package struct ServeUnits: Sendable {
    private let program: String

    /// `program` is the absolute path of the binary.
    package init(program: String) { self.program = program }

    package var socket: ServiceUnits.Unit {
        ServiceUnits.Unit(
            name: "yardmaster-serve.socket",
            text: """
                # yardmaster-serve.socket: starts yardmaster-serve.service when somebody looks.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Socket of Yardmaster's pages
                Documentation=man:yardmaster(1)

                [Socket]
                # For the web server in front of it: 'systemctl edit' with SocketGroup=www-data.
                ListenStream=/run/yardmaster/serve.sock
                SocketUser=yardmaster
                SocketGroup=yardmaster
                SocketMode=0660
                DirectoryMode=0755

                [Install]
                WantedBy=sockets.target

                """
        )
    }

    package var service: ServiceUnits.Unit {
        let fine = ServiceUnits.numbers([.interrupted, .terminated])
        return ServiceUnits.Unit(
            name: "yardmaster-serve.service",
            text: """
                # yardmaster-serve.service: shows the rollouts of this machine to browsers.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Yardmaster's pages
                Documentation=man:yardmaster(1)
                Requires=yardmaster-serve.socket
                After=yardmaster-serve.socket

                [Service]
                ExecStart=\(ServiceUnits.word(program)) serve --quiet
                SuccessExitStatus=\(fine)
                Restart=on-failure
                User=yardmaster
                Group=yardmaster
                StateDirectory=yardmaster
                StateDirectoryMode=0750
                UMask=0027
                StandardOutput=journal
                StandardError=journal
                SyslogIdentifier=yardmaster
                # It never calls anybody, and takes no processor from a run.
                IPAddressDeny=any
                IPAddressAllow=localhost
                Nice=10

                \(ServiceUnits.sandbox(home: "yes"))
                LimitCORE=0

                """
        )
    }
}
