import Base
package import Commands
package import Images
package import Manifest
import Rollout
import Synchronization

/// An image that is in the store now.
package struct FetchedImage: Sendable {
    let planned: PlannedImage
    let stored: StoredImage
    /// Whether it was fetched in this call.
    let isNew: Bool
    /// Its origin in this call; nil when it was here before.
    let origin: String?
}

/// Fetches every image of a plan into the store, before anything else is done.
package struct ImagePreparation: Sendable {
    let plan: FrozenPlan
    /// The state directory, which exists.
    let state: String
    let context: Context
    let common: CommonOptions
    /// Whether images that are copied from this machine are reported.
    let tellsLocalFiles: Bool

    package init(
        plan: FrozenPlan,
        state: String,
        context: Context,
        common: CommonOptions,
        tellsLocalFiles: Bool
    ) {
        self.plan = plan
        self.state = state
        self.context = context
        self.common = common
        self.tellsLocalFiles = tellsLocalFiles
    }

    private enum Step: Sendable {
        case image(Int, Result<FetchedImage, FetchFailure>)
        case tick
    }

    /// All images in the order of the plan; the error names every image that cannot be fetched.
    ///
    /// Nil when a signal interrupted it: bytes that arrived are kept.
    package func bringAll() async throws(CommandError) -> [FetchedImage]? {
        let outcome = try await bring()
        guard !outcome.wasCut else { return nil }
        if let refusal = outcome.refusal { throw refusal }
        return outcome.images
    }

    /// The result for each image, in the order of the plan.
    package func bring() async throws(CommandError) -> FetchOutcome {
        let folder = StoreFolder(stateDirectory: state)
        let lock = try Self.lockedStore(folder, for: plan)
        try checkRoom(in: folder)
        let executor: ThreadExecutor
        do throws(ThreadError) {
            executor = try ThreadExecutor.start(name: "images")
        } catch {
            throw CommandError(.unavailable, "no thread for the images", because: ["\(error)"])
        }
        let time = FetchTime()
        let fetcher = ImageFetcher(
            into: folder,
            settings: settings,
            time: time,
            seed: time.seed,
            executor: executor
        )
        // Runs on the fetcher's thread; otherwise each task would have to switch to it again and
        // again.
        let results = await withTaskExecutorPreference(executor) {
            await bring(with: fetcher, time)
        }
        await fetcher.stop()
        executor.stop()
        lock.release()
        return FetchOutcome(plan: plan, results: results)
    }

    /// The exit code after a signal that interrupted it.
    package static var cutCode: ExitCode { Signals.exitCode ?? .terminated }

    package func noteCut() {
        context.console.note(
            "yardmaster: not all images are here; what arrived is kept for the next time\n"
        )
    }

    /// Reports that a signal interrupted it.
    func tellCut() -> ExitCode {
        let code = Self.cutCode
        noteCut()
        if common.wantsJSON {
            let exit = code.json
            context.console.result(JSONValue.object(["schema": 1, "exit": exit]).text + "\n")
        }
        return code
    }

    /// Checks before the first byte whether the missing images fit.
    private func checkRoom(in folder: StoreFolder) throws(CommandError) {
        let limit = plan.fetch.storeLimit
        let budget: StoreBudget
        do throws(ImageError) {
            budget = try StoreBudget(for: plan.images.map { ($0.digest, $0.size) }, in: folder)
        } catch { throw FetchFailure.refusal(ofStore: error) }
        if let complaint = budget.complaint(limit: limit) {
            throw CommandError(
                .cannotWrite,
                "the images do not fit into the store",
                because: [complaint],
                hint:
                    "'yardmaster images prune' removes what no rollout needs; `fetch: store` in the "
                    + "manifest says how much the store may hold"
            )
        }
        guard budget.missing > 0, tellsLocalFiles, !common.isQuiet else { return }
        context.console.note("yardmaster: \(budget.words(limit: limit))\n")
    }

    /// The right to use the store; the images of the plan are noted in the store first.
    package static func lockedStore(
        _ folder: StoreFolder,
        for plan: FrozenPlan
    ) throws(CommandError) -> StoreLock {
        do throws(ImageError) {
            if let lock = try StoreLock(folder, for: .use) {
                try ImageReferences(folder).set(plan.name, plan.images.map(\.digest))
                return lock
            }
        } catch { throw FetchFailure.refusal(ofStore: error) }
        throw CommandError(
            .busy,
            "the image store is being cleaned up",
            hint: "wait for 'yardmaster images prune' to end, then try again"
        )
    }

    private var settings: FetchSettings { FetchSettings(plan.fetch) }

    /// Fetches a few images at a time, updates the screen, and stops at INT and TERM.
    private func bring(
        with fetcher: ImageFetcher,
        _ time: FetchTime
    ) async -> [Result<FetchedImage, FetchFailure>] {
        let images = plan.images
        let display = FetchDisplay(self, time)
        let stop = Signals.catchThem()
        let results = await withTaskGroup(of: Step.self) { group in
            var results: [Int: Result<FetchedImage, FetchFailure>] = [:]
            var next = 0
            func begin() {
                guard next < images.count else { return }
                let index = next
                next += 1
                group.addTask {
                    .image(index, await one(images[index], index, fetcher, display))
                }
            }
            func wait() {
                group.addTask {
                    await time.sleep(for: .milliseconds(100), "the screen")
                    return .tick
                }
            }
            // Those beyond the limit wait for the disk, or for their turn at the network.
            for _ in 0..<(settings.connections + 8) { begin() }
            wait()
            while results.count < images.count, let step = await group.next() {
                switch step {
                case .image(let index, let result):
                    results[index] = result
                    if !stop.isRequested { begin() }
                case .tick:
                    display.tick()
                    if stop.isRequested {
                        group.cancelAll()
                        // Images that did not begin are cancelled, too.
                        for index in next..<max(next, images.count) {
                            results[index] = .failure(FetchFailure(images[index], .cancelled))
                        }
                        next = images.count
                    }
                    if results.count < images.count { wait() }
                }
            }
            group.cancelAll()
            return results
        }
        display.end()
        return images.indices.map {
            results[$0] ?? .failure(FetchFailure(images[$0], .cancelled))
        }
    }

    private func one(
        _ image: PlannedImage,
        _ index: Int,
        _ fetcher: ImageFetcher,
        _ display: FetchDisplay
    ) async -> Result<FetchedImage, FetchFailure> {
        guard
            let request = ImageRequest(name: image.name, digest: image.digest, size: image.size)
        else {
            return .failure(FetchFailure(image, .store(.tooLarge(limit: ImageRequest.largest))))
        }
        let origins = ([image.source] + image.mirrors).compactMap(\.origin)
        do throws(FetchError) {
            let wasNew = NewMark()
            let from = Mutex<String?>(nil)
            let stored = try await fetcher.image(request, from: origins) { progress in
                if case .stored = progress { wasNew.set() }
                if case .started(let origin, _, _) = progress {
                    from.withLock { $0 = origin.description }
                }
                display.take(progress, of: index)
            }
            return .success(
                FetchedImage(
                    planned: image,
                    stored: stored,
                    isNew: wasNew.isSet,
                    origin: wasNew.isSet ? from.withLock { $0 } : nil
                )
            )
        } catch { return .failure(FetchFailure(image, error)) }
    }
}
