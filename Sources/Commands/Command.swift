/// The names of all commands; the executable has one file for each.
package enum CommandName: String, CaseIterable, Sendable, Hashable {
    case initialise = "init"
    case validate, plan, approve, rehearse, run, status, show, morning, pause, resume, abort, retry,
        rollback, recall, inhibit, uninhibit
    case clear
    case vehicleRenamed = "vehicle renamed"
    case vehicleMoved = "vehicle moved"
    case acceptRestore = "accept-restore"
    case history
    case historyShow = "history show"
    case historyCompare = "history compare"
    case scan, inventory, enrol, watch, update, exec
    case tokenShow = "token show"
    case secretsCheck = "secrets check"
    case secretsRotate = "secrets rotate"
    case imageInspect = "image inspect"
    case fetch, sync
    case imagesList = "images list"
    case imagesVerify = "images verify"
    case imagesPrune = "images prune"
    case profilesList = "profiles list"
    case profilesShow = "profiles show"
    case profilesCheck = "profiles check"
    case trust
    case bundleCreate = "bundle create"
    case bundleVerify = "bundle verify"
    case bundleApply = "bundle apply"
    case bundleCopy = "bundle copy"
    case bundleShow = "bundle show"
    case notifyTest = "notify test"
    case notifyList = "notify list"
    case notifySend = "notify send"
    case notifyFailure = "notify failure"
    case systemdPrint = "systemd print"
    case fleetStatus = "fleet status"
    case fleetCreate = "fleet create"
    case fleetInvite = "fleet invite"
    case fleetJoin = "fleet join"
    case fleetCheck = "fleet check"
    case fleetUpgrade = "fleet upgrade"
    case fleetAcceptRestore = "fleet accept-restore"
    case fleetPrune = "fleet prune"
    case gateways
    case gatewayDrain = "gateway drain"
    case gatewayForget = "gateway forget"
    case serve, simulate, doctor, schema, completion, complete, man, help, version
}

/// One command, as parser, help, manual and completions need it.
package struct Command: Sendable {
    package let id: CommandName
    /// One sentence without a full stop, for lists of commands.
    package let summary: String
    /// Paragraphs.
    package let description: [String]
    package let arguments: [Argument]
    package let flags: [any FlagRow]
    package let examples: [Example]
    /// The exit codes of the command other than 0, 1 and 64, which every command has.
    let exitCodes: [ExitCode]
    /// Whether the command works but is not listed.
    package let isHidden: Bool
    /// Whether it needs neither much output nor radio: then a thread for the output would cost more than the command.
    package let isQuick: Bool

    package struct Example: Sendable, Equatable {
        package let line: String
        let meaning: String

        init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    init(
        _ id: CommandName,
        summary: String,
        description: [String],
        arguments: [Argument] = [],
        flags: [any FlagRow] = [],
        examples: [Example] = [],
        exitCodes: [ExitCode] = [],
        isHidden: Bool = false,
        isQuick: Bool = false
    ) {
        self.id = id
        self.summary = summary
        self.description = description
        self.arguments = arguments
        self.flags = flags + [Flag("help", short: "h", help: "Show this help.")]
        self.examples = examples
        self.exitCodes = exitCodes
        self.isHidden = isHidden
        self.isQuick = isQuick
    }

    /// One word, or several for a command with forms, such as `trust show`.
    package var name: String { id.rawValue }

    package var words: [String] { name.split(separator: " ").map { String($0) } }

    /// Every exit code of the command, in rising order.
    var allExitCodes: [ExitCode] {
        let any: [ExitCode] = [.done, .internalError, .usage]
        return ExitCode.allCases.filter { any.contains($0) || exitCodes.contains($0) }
    }

    var usage: String {
        (["yardmaster", name, "[OPTIONS]"] + arguments.map(\.usage)).joined(separator: " ")
    }

    package func flag(long name: String) -> (any FlagRow)? {
        flags.first { $0.long == name }
    }
}
