import Foundation
import Testing
import VehicleModules

/// A depot with the library on it: simulated air or a served bus, with the same calls.
struct LibraryBench {
    enum Air: String, CaseIterable, Sendable {
        case simulated, served
    }

    let program: Program

    init(_ depot: String) throws {
        program = try Program()
        try program.write("depot.yaml", depot)
    }

    func on<R: Sendable>(
        _ air: Air,
        profiles: String? = nil,
        models: [ModuleProfile] = [],
        families: [ModuleFamily] = [],
        cache: String? = nil,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        switch air {
        case .simulated:
            let path = program.folder.path + "/depot.yaml"
            return try await ModuleRadio.on(
                .simulated(depot: path),
                profiles: profiles,
                models: models,
                families: families,
                cache: cache,
                body
            )
        case .served:
            let served = try ServedDepot("depot.yaml", of: program, profiles: profiles)
            let result = try await ModuleRadio.on(
                .bluez(bus: served.address),
                profiles: profiles,
                models: models,
                families: families,
                cache: cache,
                body
            )
            withExtendedLifetime(served) {}
            return result
        }
    }

    /// The path of an image that is shipped with a sample manifest.
    static func image(_ path: String) -> String {
        Program.repository.appending(path: "manifests/" + path).path(percentEncoded: false)
    }

    /// The code of the library's error that `body` throws; nil when it throws none.
    static func code(
        _ body: () async throws -> some Any
    ) async -> ModuleFailure.Code? {
        do { _ = try await body() } catch { return (error as? ModuleFailure)?.code }
        return nil
    }
}
