import Base
import Commands
import Manifest
import Operations
import Testing

/// The lists of targets that apply, and the result when one of them cannot be read.
@Suite struct NotifyListsTests {
    private static let state = "/s/notify.yaml"

    private func find(
        _ files: [String: Result<String, FileError>],
        own: NotifyPolicy? = nil
    ) throws(CommandError) -> NotifyLists.Found {
        try NotifyLists(state: "/s", own: own) { path throws(FileError) in
            guard let file = files[path] else { throw FileError(path: path, reason: .missing) }
            return Array(try file.get().utf8)
        }
        .find()
    }

    private func refused(_ path: String, _ reason: FileError.Reason) -> Result<String, FileError> {
        .failure(FileError(path: path, reason: reason))
    }

    @Test func `lists of the machine and of the state directory are joined by name`() throws {
        let found = try find([
            NotifyLists.machine: .success(
                "targets: {crew: {mail: a@example.com}, pager: {mail: p@example.com}}"
            ),
            Self.state: .success("targets: {crew: {mail: b@example.com}}"),
        ])
        #expect(found.unread == nil)
        #expect(Set(found.policy.targets.map(\.name)) == ["crew", "pager"])
        #expect(found.policy.target("crew")?.way == .mail("b@example.com"))
    }

    @Test func `without any list there is nothing to warn of`() throws {
        let found = try find([:])
        #expect(found.policy.targets.isEmpty && found.unread == nil)
    }

    @Test func `a machine's list that this user may not read takes no other target away`() throws {
        let found = try find([
            NotifyLists.machine: refused(NotifyLists.machine, .notPermitted),
            Self.state: .success("targets: {crew: {mail: b@example.com}}"),
        ])
        #expect(found.policy.targets.map(\.name) == ["crew"])
        #expect(found.unread == FileError(path: NotifyLists.machine, reason: .notPermitted))
    }

    @Test func `what else cannot be read or is not right is an error`() throws {
        #expect(throws: CommandError.self) {
            try find([NotifyLists.machine: refused(NotifyLists.machine, .notAFile)])
        }
        #expect(throws: CommandError.self) {
            try find([Self.state: refused(Self.state, .notPermitted)])
        }
        #expect(throws: CommandError.self) {
            try find([Self.state: .success("targets: 7")])
        }
    }
}
