import Base
import Glibc

/// Records what simulated vehicles carried out, one line per act, in a file that survives a killed
/// process.
///
/// It is the vehicles' side of the story: a rollout's report can be compared with it.
final class DepotDiary {
    private let descriptor: Int32

    /// Opens the diary beside a depot's memory file.
    init(besides memoryPath: String) throws(SimulatedDepot.MemoryFailure) {
        let path = "\(memoryPath).deeds"
        do throws(FileFault) {
            descriptor = try FilePlace.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        } catch {
            throw SimulatedDepot.MemoryFailure("open", path, error.code)
        }
    }

    deinit { close(descriptor) }

    /// Adds a line in one write, so that the end of the process never leaves half of it.
    func add(_ line: String) {
        let bytes = Array(line.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
