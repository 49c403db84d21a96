package import Base
package import Commands
package import Manifest

/// The files that name the targets of notices, and the additions of a manifest.
package struct NotifyLists: Sendable {
    /// The list of the machine, for all state directories.
    package static let machine = "/etc/yardmaster/notify.yaml"

    /// Targets by name, and the fault of the machine's list when this user may not read it.
    package struct Found: Sendable {
        package var policy = NotifyPolicy()
        /// Why targets of a list are missing; nil when every list was read.
        package var unread: FileError?
    }

    private let paths: [String]
    private let own: NotifyPolicy?
    private let read: @Sendable (String) throws(FileError) -> [UInt8]
    private let doubt: @Sendable (String) -> Authorship?

    package init(
        state: String,
        own: NotifyPolicy?,
        read: @escaping @Sendable (String) throws(FileError) -> [UInt8] = {
            path throws(FileError) in
            try TextFile.read(path: path, limit: NotifyReader.mostBytes)
        },
        doubt: @escaping @Sendable (String) -> Authorship? = { Authorship.doubt($0) }
    ) {
        paths = [Self.machine, state + "/notify.yaml"]
        self.own = own
        self.doubt = doubt
        self.read = read
    }

    /// The machine's list, that of the state directory, and the manifest's; a later one overrides
    /// targets of the same name in an earlier one.
    ///
    /// The machine's list contains the depot's targets, and not every user may read it. The targets
    /// that such a user names in the other two get their notices nevertheless.
    package func find() throws(CommandError) -> Found {
        var found = Found()
        for path in paths {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try read(path)
            } catch {
                switch error.reason {
                case .missing: continue
                case .notPermitted where path == Self.machine:
                    found.unread = error
                    continue
                case .notPermitted, .notAFile, .tooLarge, .badPath, .system:
                    throw CommandError(
                        .inputMissing,
                        "\(path) cannot be read",
                        because: ["\(error)"]
                    )
                }
            }
            let list = try Self.list(bytes, path)
            if list.namesPrograms, let doubt = doubt(path) {
                throw CommandError(
                    .configuration,
                    "\(path) names programs, and somebody else could have written it",
                    because: [doubt.cause],
                    hint: doubt.remedy
                )
            }
            found.policy = found.policy.overruled(by: list)
        }
        if let own { found.policy = found.policy.overruled(by: own) }
        return found
    }

    private static func list(
        _ bytes: [UInt8],
        _ path: String
    ) throws(CommandError) -> NotifyPolicy {
        let (policy, diagnostics) = NotifyReader.read(bytes, path: path)
        guard let policy else {
            throw CommandError(
                .manifest,
                "\(path) is not right",
                because: diagnostics.map { "\($0)" }
            )
        }
        return policy
    }
}

extension NotifyPolicy {
    /// Whether a target of it is a program that we run.
    var namesPrograms: Bool {
        targets.contains { if case .program = $0.way { true } else { false } }
    }
}
