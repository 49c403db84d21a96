import Base

/// The text of the systemd units with which a depot applies the bundles that arrive in a folder.
package struct BundleUnits: Sendable {
    private static let stem = "yardmaster-bundles"

    private let program: String
    private let folder: String
    private let target: String
    private let keys: [String]
    private let threshold: String?

    /// All paths are absolute.
    package init(
        program: String,
        folder: String,
        target: String,
        keys: [String],
        threshold: String? = nil
    ) {
        self.program = program
        self.folder = folder
        self.target = target
        self.keys = keys
        self.threshold = threshold
    }

    package var service: ServiceUnits.Unit {
        let word = ServiceUnits.word
        var line = [word(program), "bundle apply --from", word(folder)]
        line += ["--target-dir", word(target)]
        for key in keys { line += ["--key", word(key)] }
        if let threshold { line += ["--threshold", threshold] }
        let isAtHome = ([folder, target] + keys).contains(where: ServiceUnits.isAtHome)
        return ServiceUnits.Unit(
            name: Self.stem + ".service",
            text: """
                # \(Self.stem).service: takes over the bundles in \(folder.visible).
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Yardmaster bundles from \(Self.specifiersKept(folder))
                Documentation=man:yardmaster(1)
                # What lies there and cannot be taken over for want of room must not spin.
                StartLimitIntervalSec=1h
                StartLimitBurst=10
                # A bundle that is refused is moved away with its reason: somebody should look.
                OnFailure=yardmaster-failure@%n.service

                [Service]
                Type=oneshot
                ExecStart=\(line.joined(separator: " "))
                TimeoutStartSec=1h

                User=yardmaster
                Group=yardmaster
                StateDirectory=yardmaster
                StateDirectoryMode=0750
                UMask=0027
                ReadWritePaths=\(word(folder)) \(word(target))

                StandardOutput=journal
                StandardError=journal
                SyslogIdentifier=yardmaster

                \(ServiceUnits.sandbox(home: isAtHome ? "no" : "yes"))

                """
        )
    }

    package var path: ServiceUnits.Unit {
        ServiceUnits.Unit(
            name: Self.stem + ".path",
            text: """
                # \(Self.stem).path: starts \(Self.stem).service when a bundle is there.
                # Made by 'yardmaster systemd print'. Change it with 'systemctl edit', not here.
                [Unit]
                Description=Yardmaster bundles that come into \(Self.specifiersKept(folder))
                Documentation=man:yardmaster(1)

                [Path]
                # Copy a bundle under another name and rename it when it is whole.
                PathExistsGlob=\(Self.specifiersKept(folder))/*.bundle
                Unit=\(Self.stem).service

                [Install]
                WantedBy=multi-user.target

                """
        )
    }

    /// A value that is not a command line: only specifiers are escaped.
    private static func specifiersKept(_ text: String) -> String {
        text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    }
}
