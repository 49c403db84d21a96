import Base
import Radio

/// A running scan: the modules in range, as they appear and disappear.
public struct ModuleDiscovery: Sendable {
    /// The list at one moment, and whether it is the last one.
    struct Snapshot: Sendable, Equatable {
        var modules: [DiscoveredVehicleModule] = []
        var isScanning = true
        var failure: ModuleFailure?
    }

    let snapshot = Latest(Snapshot())

    /// The modules that are heard now, sorted by serial: the current list, and each new one.
    ///
    /// It ends with the scan, and throws a `ModuleFailure` when the scan ended early. However fast
    /// the list changes, a slow reader misses only older lists, never the newest.
    public var lists: AsyncThrowingStream<[DiscoveredVehicleModule], any Error> {
        let source = Source(snapshot.values())
        return AsyncThrowingStream {
            guard let now = await source.next() else { return nil }
            if let failure = now.failure { throw failure }
            return now.isScanning ? now.modules : nil
        }
    }

    /// The modules that are heard now; empty after the scan.
    public var modules: [DiscoveredVehicleModule] { snapshot.value.modules }

    /// Whether the scan runs now.
    public var isScanning: Bool { snapshot.value.isScanning }

    /// Whether the scan runs: true, and false when it ends; it ends then.
    public var scanning: AsyncStream<Bool> {
        let reader = LastingReader(Source(snapshot.values())) { !$0.isScanning }
        return AsyncStream { await reader.next()?.isScanning }
    }

    /// Why the scan ended early; nil when it did not.
    public var failure: ModuleFailure? { snapshot.value.failure }

    /// The failure that ends the scan early; it ends with the scan, empty when nothing failed.
    public var failures: AsyncStream<ModuleFailure> {
        let reader = LastingReader(Source(snapshot.values())) { !$0.isScanning }
        return AsyncStream {
            while let now = await reader.next() {
                if let failure = now.failure { return failure }
            }
            return nil
        }
    }
}

extension ModuleRadio {
    /// Scans while `body` runs, but at most for `duration`; the scan ends with the body.
    ///
    /// With `profiles`, such as `["comodule/generic"]`, only modules that one of these profiles recognises
    /// are reported.
    @discardableResult
    public func withDiscovery<R: Sendable>(
        for duration: Duration = .seconds(30),
        profiles: Set<String>? = nil,
        _ body: @Sendable (ModuleDiscovery) async throws -> R
    ) async throws -> R {
        for name in (profiles ?? []).sorted() {
            let words = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let family = try family(named: String(words[0]))
            _ = try Self.profile(words.count > 1 ? String(words[1]) : "", of: family, in: library)
        }
        let found = ModuleDiscovery()
        let discovery = discovery()
        let result = await Self.beside {
            let scan = await Self.beside {
                for await list in discovery.modules.values() {
                    let wanted = list.compactMap { DiscoveredVehicleModule($0, for: profiles) }
                    found.snapshot.set(ModuleDiscovery.Snapshot(modules: wanted))
                }
            } _: {
                try await search(discovery, for: duration)
            }
            // The task that sets the lists has ended, so this is the last list.
            var end = ModuleDiscovery.Snapshot(isScanning: false)
            if case .failure(let problem as DiscoveryProblem) = scan,
                problem != .unexpected(.cancelled)
            {
                end.failure = ModuleFailure(problem)
            }
            found.snapshot.set(end)
        } _: {
            try await body(found)
        }
        return try result.get()
    }
}
