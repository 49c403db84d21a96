package import Base

/// The exit codes of the program: the only table of these.
package enum ExitCode: Int32, CaseIterable, Sendable, Hashable {
    case done = 0
    case internalError = 1
    case someFailed = 10
    case someMissed = 11
    case paused = 12
    case aborted = 13
    case workLeft = 15
    case usage = 64
    case invalidManifest = 65
    case inputMissing = 66
    case unavailable = 69
    case cannotCreate = 73
    case cannotWrite = 74
    case busy = 75
    case trustRefused = 77
    case configuration = 78
    case interrupted = 130
    case terminated = 143

    /// One word for programs, which stays the same when the sentence changes.
    package var name: String {
        switch self {
        case .done: "done"
        case .internalError: "internal-error"
        case .someFailed: "some-failed"
        case .someMissed: "some-missed"
        case .paused: "paused"
        case .aborted: "aborted"
        case .workLeft: "work-left"
        case .usage: "usage"
        case .invalidManifest: "invalid-manifest"
        case .inputMissing: "input-missing"
        case .unavailable: "unavailable"
        case .cannotCreate: "cannot-create"
        case .cannotWrite: "cannot-write"
        case .busy: "busy"
        case .trustRefused: "trust-refused"
        case .configuration: "configuration"
        case .interrupted: "interrupted"
        case .terminated: "terminated"
        }
    }

    /// The meaning for people, to be used after a colon: lower case, without a full stop.
    package var sentence: String {
        switch self {
        case .done: "done; nothing to do counts as done"
        case .internalError: "a bug in this program"
        case .someFailed: "some vehicles failed"
        case .someMissed:
            "none failed, but more were unreachable or deferred than the manifest tolerates"
        case .paused: "a gate paused the rollout"
        case .aborted: "the rollout was aborted"
        case .workLeft: "the window or the budget ended with work left; run again to continue"
        case .usage: "the command line is wrong"
        case .invalidManifest: "the manifest or a file it names is invalid"
        case .inputMissing: "an input file is missing or cannot be read"
        case .unavailable: "Bluetooth or another service is unavailable"
        case .cannotCreate: "a file or directory cannot be created"
        case .cannotWrite: "a file cannot be written"
        case .busy: "another run holds the lock"
        case .trustRefused: "an image, a plan or its signature is not trusted"
        case .configuration: "the configuration is wrong"
        case .interrupted: "ended by INT at a safe point"
        case .terminated: "ended by TERM at a safe point"
        }
    }

    /// The code to use when several apply; `done` when none does.
    package static func worst(of codes: some Sequence<ExitCode>) -> ExitCode {
        codes.max { $0.weight < $1.weight } ?? .done
    }

    /// Grows with the attention that the code requires from a person.
    ///
    /// 64 to 78 mean that no fleet work was started, so they outweigh all results of vehicles. When
    /// a person has ended the run, that comes before the results.
    private var weight: Int {
        switch self {
        case .internalError: 17
        case .trustRefused: 16
        case .configuration: 15
        case .cannotWrite: 14
        case .cannotCreate: 13
        case .busy: 12
        case .unavailable: 11
        case .inputMissing: 10
        case .invalidManifest: 9
        case .usage: 8
        case .terminated: 7
        case .interrupted: 6
        case .paused: 5
        case .aborted: 4
        case .someFailed: 3
        case .workLeft: 2
        case .someMissed: 1
        case .done: 0
        }
    }
}

extension ExitCode: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object("Exit", "How a command ended.") {
        Member("code") { Int($0.rawValue) }
        Member("reason", "For people.", \.sentence)
    }
}
