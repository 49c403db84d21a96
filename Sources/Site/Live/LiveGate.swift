import Base
package import Commands
import Glibc
import Operations
import Synchronization

/// Identifies the sender of a request, by the list of tokens and the browsers that have signed in.
///
/// Where a person has said that there is no list, everybody may read and nobody may act. Otherwise a
/// list that is missing or cannot be read admits nobody.
package final class LiveGate: Sendable {
    enum Viewer: Sendable {
        /// There is no list of tokens, as a person has said.
        case anybody
        case nobody
        /// It has an unknown token.
        case unknown
        /// Too many unknown tokens came within a minute.
        case late
        /// With a session when the request comes from a browser that has signed in.
        case person(LiveAccess.Person, session: String?)
        /// The list cannot be used.
        case closed(CommandError)
    }

    private struct State: Sendable {
        /// The mark of the file when it was last read.
        var stamp: FileMark?
        var list: Result<LiveAccess?, CommandError> = .success(nil)
        var wasThere: Bool
        var sessions = LiveSessions()
        var attempts = LiveAttempts()
    }

    private let path: String
    private let state: Mutex<State>

    /// `isOpen` is whether the user said that there is no list; a list that exists counts all the same.
    package init(path: String, isOpen: Bool) {
        self.path = path
        state = Mutex(State(wasThere: !isOpen))
    }

    /// Whether there is a list; an invalid list ends the command before it serves.
    package func check() throws(CommandError) -> Bool { try list().get() != nil }

    // MARK: Senders

    func viewer(_ request: WebRequest) -> Viewer {
        let access: LiveAccess
        switch list() {
        case .success(nil): return .anybody
        case .failure(let error): return .closed(error)
        case .success(let found?): access = found
        }
        switch LiveCredential(request) {
        case .nobody: return .nobody
        case .token(let token):
            switch look(at: token, in: access) {
            case .accepted(let person): return .person(person, session: nil)
            case .unknown: return .unknown
            case .late: return .late
            }
        case .session(let session):
            let now = RealTime().now
            let person = state.withLock { $0.sessions.person(of: session, in: access, at: now) }
            return person.map { .person($0, session: session) } ?? .nobody
        }
    }

    // MARK: Sessions

    /// The result of signing in.
    package enum Entrance: Sendable {
        case session(String)
        case unknown
        /// Too many unknown tokens came within a minute.
        case late
    }

    /// Begins a session for a token that is listed.
    func begin(with token: String) -> Entrance {
        guard case .success(let access?) = list() else { return .unknown }
        switch look(at: token, in: access) {
        case .unknown: return .unknown
        case .late: return .late
        case .accepted(let person):
            let session = Self.mark()
            let now = RealTime().now
            state.withLock { $0.sessions.begin(session, person, at: now) }
            return .session(session)
        }
    }

    private func look(at token: String, in access: LiveAccess) -> LiveAttempts.Result {
        let now = RealTime().now
        return state.withLock { $0.attempts.look(at: token, in: access, at: now) }
    }

    /// Whether somebody who began to read may go on; nil is a reader without a token.
    package func mayRead(_ reader: String?) -> Bool {
        switch list() {
        case .success(nil): reader == nil
        case .success(let access?): access.people.contains { $0.reader == reader }
        case .failure: false
        }
    }

    func end(_ session: String) { state.withLock { $0.sessions.end(session) } }

    /// A mark for a form that is being sent.
    func give(for purpose: String, to session: String) -> String {
        let mark = Self.mark()
        state.withLock { $0.sessions.give(mark, for: purpose, to: session) }
        return mark
    }

    func take(_ mark: String, for purpose: String, from session: String) -> Bool {
        state.withLock { $0.sessions.take(mark, for: purpose, from: session) }
    }

    /// Unpredictable: 256 bits from the system.
    private static func mark() -> String {
        var source = SystemRandomNumberGenerator()
        return Hex.text((0..<32).map { _ in UInt8.random(in: 0...255, using: &source) })
    }

    // MARK: The list

    private func list() -> Result<LiveAccess?, CommandError> {
        let stamp = FileMark(path)
        let isThere = stamp.isThere
        let (known, wasThere) = state.withLock { state in
            (state.stamp == stamp && isThere ? state.list : nil, state.wasThere)
        }
        if let known { return known }
        if stamp.isMissing, !wasThere { return .success(nil) }
        if stamp.isMissing { return .failure(missing) }
        let list: Result<LiveAccess?, CommandError>
        do throws(CommandError) { list = .success(try read()) } catch { list = .failure(error) }
        state.withLock { state in
            (state.stamp, state.list, state.wasThere) = (stamp, list, true)
        }
        return list
    }

    private var missing: CommandError {
        CommandError(
            .configuration,
            "there is no list of tokens, so nobody is admitted",
            because: ["\(path.visible) is missing"],
            hint: "make one (docs/operations.md), or say with --open that everybody may look"
        )
    }

    private func read() throws(CommandError) -> LiveAccess {
        let sentence = "the list of tokens cannot be used"
        func refused(_ why: String, hint: String? = nil) -> CommandError {
            CommandError(.configuration, sentence, because: ["\(path.visible) \(why)"], hint: hint)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw refused("cannot be opened: " + Descriptor.text(of: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refused("is no regular file")
        }
        // Its group may read it: that is how the service gets the system's list.
        guard status.st_mode & 0o037 == 0 else {
            throw refused("can be read or written by others", hint: "chmod 640 \(path.visible)")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw refused("belongs to another user")
        }
        var bytes = [UInt8](repeating: 0, count: LiveAccess.mostBytes + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw refused("is too long") }
        let (access, diagnostics) = LiveAccess.read(Array(bytes[..<count]), path: path)
        guard let access else {
            throw CommandError(
                .configuration,
                sentence,
                because: diagnostics.map { "\($0)" }
            )
        }
        return access
    }
}

/// Shows whether a file was written between two checks.
struct FileMark: Sendable, Equatable {
    private let parts: [Int]
    private let written: [UInt8]
    let isThere: Bool
    /// Whether the file is missing.
    ///
    /// When this is false, the file may exist and be inaccessible.
    let isMissing: Bool

    init(_ path: String) {
        var status = stat()
        isThere = stat(path, &status) == 0
        isMissing = !isThere && errno == ENOENT
        parts =
            isThere
            ? [
                Int(bitPattern: UInt(status.st_ino)), Int(status.st_size), Int(status.st_mode),
                Int(status.st_uid),
            ] : []
        written = isThere ? withUnsafeBytes(of: status.st_mtim) { Array($0) } : []
    }
}
