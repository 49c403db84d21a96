import Base
package import Commands
import Images
import Store

/// Updates the trusted documents of a repository, and downloads files that its roles have signed.
package struct TrustUpdate {
    private let invocation: Invocation
    /// Called with a line for each completed action.
    private let report: (String) -> Void

    package init(_ invocation: Invocation, report: @escaping (String) -> Void) {
        self.invocation = invocation
        self.report = report
    }

    package enum Work: String {
        case refresh, download
    }

    package func perform(_ work: Work) async throws(CommandError) {
        let fetching = try DocumentFetching(state: try value(Command.metadataDirectory))
        let result = await result(of: work, fetching.downloads)
        await fetching.stop()
        try result.get()
    }

    private func result(
        of work: Work,
        _ downloads: any Downloads
    ) async -> Result<Void, CommandError> {
        do throws(CommandError) {
            switch work {
            case .refresh: try await refresh(downloads)
            case .download: try await download(downloads)
            }
            return .success(())
        } catch { return .failure(error) }
    }

    private func value(_ flag: Flag<String?>) throws(CommandError) -> String {
        guard let value = invocation[flag] else {
            throw CommandError(
                .usage,
                "'trust \(invocation.arguments[0])' needs '--\(flag.long)'",
                hint: "try 'yardmaster trust --help'"
            )
        }
        return value
    }

    /// Makes the root in a file the trusted one.
    package func begin(with path: String) throws(CommandError) {
        let directory = try value(Command.metadataDirectory)
        do throws(TrustError) {
            let bytes = try TrustFolder.contents(of: path, limit: TrustLimits().root)
            // The first command on a new depot: its state directory may not exist yet.
            StateDirectory.makeFolders(above: directory)
            let root = try Updater<TrustFolder, WebDocuments>.begin(
                with: bytes,
                in: try TrustFolder.held(directory)
            )
            report("root version \(root.header.version) is trusted in \(directory)")
        } catch {
            throw CommandError(
                .trust,
                "'\(path.visible)' cannot become the trusted root",
                because: [error.description]
            )
        }
    }

    // MARK: refresh and download

    /// The folder of trusted documents, locked, and the source of new documents.
    private func documents(
        _ downloads: any Downloads
    ) throws(CommandError) -> (TrustFolder, WebDocuments) {
        let directory = try value(Command.metadataDirectory)
        let source = WebDocuments(try value(Command.metadataURL), downloads)
        do throws(TrustError) {
            return (try TrustFolder.held(directory), source)
        } catch { throw refusal(error) }
    }

    private static func storage<R>(
        _ body: () throws(StorageError) -> R
    ) throws(TrustError) -> R {
        do throws(StorageError) { return try body() } catch { throw .storage(error) }
    }

    private static func delivery(
        to directory: String,
        drafts: TrustFolder
    ) throws(TrustError) -> DeliveryFolder {
        let target = try TrustFolder.shared(directory)
        return try storage { () throws(StorageError) in
            try DeliveryFolder(target, drafts: drafts)
        }
    }

    private func refresh(_ downloads: any Downloads) async throws(CommandError) {
        let (held, source) = try documents(downloads)
        do throws(TrustError) {
            var updater = try Updater(files: held, source: source, now: RealTime().wallTime)
            try await updater.refresh()
        } catch { throw refusal(error) }
        report("the repository's documents are verified and up to date")
    }

    private func download(_ downloads: any Downloads) async throws(CommandError) {
        let names = invocation[Command.targetName]
        guard !names.isEmpty else {
            throw CommandError(.usage, "'trust download' needs '--target-name'")
        }
        let directory = try value(Command.targetDirectory)
        let source = WebDocuments(try value(Command.targetBaseURL), downloads)
        let (held, metadata) = try documents(downloads)
        do throws(TrustError) {
            var updater = try Updater(files: held, source: metadata, now: RealTime().wallTime)
            try await updater.refresh()
            let files = try Self.delivery(to: directory, drafts: held)
            for name in names {
                guard let path = TargetPath(name) else { throw .badTargetPath(name) }
                let file = try await updater.find(path)
                try file.checkIsCheckable(path)
                let present = try Self.storage { () throws(StorageError) in
                    try files.read(path.fileName, limit: file.length)
                }
                if let present, (try? file.check(present, path)) != nil {
                    report("\(path): \(directory)/\(path.fileName), there already")
                    continue
                }
                let bytes = try await updater.fetch(file, path, from: source)
                try Self.storage { () throws(StorageError) in
                    try files.deliver(path.fileName, bytes)
                }
                report("\(path): \(directory)/\(path.fileName), \(bytes.count) bytes")
            }
        } catch { throw refusal(error) }
    }

    private func refusal(_ error: TrustError) -> CommandError {
        let hint: String? =
            switch error {
            case .noRoot: "bring a root in a way that you trust, then run 'yardmaster trust init'"
            case .clockWentBack: "set the clock"
            case .otherRoot, .malformed, .notSigned, .wrongVersion, .rolledBack, .roleRemoved,
                .expired, .wrongLength, .wrongHash, .tooManyRoots, .tooManyRoles, .notListed,
                .badTargetPath, .noTarget, .noKnownHash, .targetTooLarge, .targetWrongLength,
                .targetWrongHash, .source, .storage:
                nil
            }
        return CommandError(
            .trust,
            "the repository is not trusted",
            because: [error.description],
            hint: hint
        )
    }
}
