import Glibc

/// What simulated vehicles carried out, a line a deed, in a file that a killed process leaves intact.
///
/// It is the vehicles' side of the story: what a rollout says it did can be held against it.
final class DepotDiary {
    private let descriptor: Int32

    /// Opens the diary that lies beside a depot's memory.
    init(besides memoryPath: String) throws(SimulatedDepot.MemoryFailure) {
        let path = "\(memoryPath).deeds"
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SimulatedDepot.MemoryFailure(
                description: "\(path): open failed with error \(errno)"
            )
        }
    }

    deinit { close(descriptor) }

    /// Adds a line in one write, so that no end of the process leaves half of it.
    func add(_ line: String) {
        let bytes = Array(line.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
