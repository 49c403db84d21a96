package import Base
package import Commands
import Images

/// A folder for incoming bundles: each is moved into `applied`, or into `refused` with the reason.
package struct BundleIntake {
    private let folder: String
    private let names: [String]

    package init(of folder: String) throws(CommandError) {
        self.folder = folder
        do throws(StorageError) {
            names = try TrustFolder(folder, isHeld: false).names().filter {
                $0.hasSuffix(".bundle") && !$0.hasPrefix(".")
            }
        } catch {
            throw CommandError(
                .inputMissing,
                "the folder '\(folder.visible)' cannot be read",
                because: [error.description]
            )
        }
    }

    /// The results for the bundles of a folder.
    package struct Account {
        private var codes: [ExitCode] = []
        private var documents: [JSONValue] = []

        fileprivate mutating func add(_ code: ExitCode, _ document: JSONValue) {
            codes.append(code)
            documents.append(document)
        }

        package var exitCode: ExitCode { ExitCode.worst(of: codes) }

        package var text: String {
            let applied = codes.count { $0 == .done }
            return "applied=\(applied) refused=\(codes.count - applied) "
                + "exit=\(exitCode.rawValue)\n"
        }

        package var document: JSONValue {
            .object(["schema": 1, "bundles": .array(documents), "exit": exitCode.json])
        }
    }

    /// Applies one bundle after the other; `report` is called with each result.
    ///
    /// An error that concerns all bundles, such as a full disk, ends it, and the remaining bundles
    /// stay.
    package func empty(
        by apply: (String) async throws(CommandError) -> BundleApplication.Applied,
        report: (Result<BundleApplication.Applied, CommandError>) -> Void
    ) async throws(CommandError) -> Account {
        var account = Account()
        for name in names {
            do throws(CommandError) {
                let applied = try await apply("\(folder)/\(name)")
                account.add(.done, applied.document)
                report(.success(applied))
                try move(name, to: "applied", because: nil)
            } catch {
                switch error.kind {
                // The configuration: a key, a time zone or a secret that its manifest names.
                case .usage, .manifest, .inputMissing, .trust, .configuration: break
                case .unavailable, .cannotCreate, .cannotWrite, .busy, .internal: throw error
                }
                report(.failure(error))
                account.add(error.exitCode, error.document)
                try move(name, to: "refused", because: error)
            }
        }
        return account
    }

    /// Moves a bundle and its signatures into the other folder.
    private func move(
        _ name: String,
        to place: String,
        because error: CommandError?
    ) throws(CommandError) {
        let away = "\(folder)/\(place)"
        do throws(StorageError) {
            let here = try TrustFolder(folder, isHeld: false)
            let there = try TrustFolder(away, isHeld: false)
            if let error {
                let reason = "\(name).reason"
                try there.write(reason, Array(error.text.utf8))
                try there.sync(reason)
            }
            // The bundle is moved last: until then the next attempt finds all of it.
            for beside in try here.names() where beside.hasPrefix(name + ".") {
                try here.rename(beside, to: beside, in: there)
            }
            try here.rename(name, to: name, in: there)
            try there.syncFolder()
            try here.syncFolder()
        } catch {
            throw CommandError(
                .cannotWrite,
                "the bundle '\(name.visible)' cannot be moved to '\(away.visible)'",
                because: [error.description],
                hint: "the folder must be writable for this user"
            )
        }
    }
}
