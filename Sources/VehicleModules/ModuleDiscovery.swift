import Domain
import Modules
import Radio

/// A scan under way: who is in reach, as they come and go.
public struct ModuleDiscovery: Sendable {
    /// The list of one moment, and whether it is the last.
    struct Snapshot: Sendable {
        var modules: [DiscoveredVehicleModule] = []
        var isScanning = true
        var failure: ModuleFailure?
    }

    let snapshot = Latest(Snapshot())

    /// The modules that are heard now, by serial: the list of now and then each newest one.
    ///
    /// It ends when the scan is over, and throws a `ModuleFailure` when it ended before its time. However fast
    /// the list changes, a slow reader misses only what is older than the newest.
    public var lists: AsyncThrowingStream<[DiscoveredVehicleModule], any Error> {
        let source = Source(snapshot.values())
        return AsyncThrowingStream {
            guard let now = await source.next() else { return nil }
            if let failure = now.failure { throw failure }
            return now.isScanning ? now.modules : nil
        }
    }

    /// Those that are heard now; empty once the scan is over.
    public var modules: [DiscoveredVehicleModule] { snapshot.value.modules }

    public var isScanning: Bool { snapshot.value.isScanning }

    /// Why the scan ended before its time.
    public var failure: ModuleFailure? { snapshot.value.failure }
}

extension ModuleRadio {
    /// Scans while `body` runs, for so long at most; the scan ends with the body.
    ///
    /// With `profiles`, such as `["comodule/generic"]`, only modules that these know are reported.
    @discardableResult
    public func withDiscovery<R: Sendable>(
        for duration: Duration = .seconds(30),
        profiles: Set<String>? = nil,
        _ body: @Sendable (ModuleDiscovery) async throws -> R
    ) async throws -> R {
        let found = ModuleDiscovery()
        let discovery = Discovery(central: central, time: time, library: library, log: log)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let problem = await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for await list in discovery.modules.values() {
                            let wanted = list.filter { module in
                                let name = "\(module.family.rawValue)/\(module.profile)"
                                return profiles?.contains(name) ?? true
                            }
                            found.snapshot.set(
                                ModuleDiscovery.Snapshot(
                                    modules: wanted.map { DiscoveredVehicleModule($0) }
                                )
                            )
                        }
                    }
                    var problem: DiscoveryProblem?
                    do throws(DiscoveryProblem) {
                        try await discovery.scan(for: .lasting(duration))
                    } catch { problem = error }
                    group.cancelAll()
                    return problem
                }
                // Anyone who sets the lists has ended: this stays the last word.
                var end = ModuleDiscovery.Snapshot(isScanning: false)
                if let problem, problem != .unexpected(.cancelled) {
                    end.failure = ModuleFailure(problem)
                }
                found.snapshot.set(end)
            }
            let result = await Self.attempt { try await body(found) }
            group.cancelAll()
            return result
        }
        return try result.get()
    }
}
