import Commands
import Domain
import Manifest
import Marked
import Wire

/// Finds the time zone of a plan's window among the machine's zone files.
enum ZoneSource {
    /// No zone has more than a few kilobytes.
    private static let limit = 1 << 20

    static func zone(
        of plan: FrozenPlan,
        _ context: Context
    ) throws(CommandError) -> Zone {
        guard let name = plan.rollout.window?.zone else { return .utc }
        let folder = context.variable("TZDIR") ?? "/usr/share/zoneinfo"
        let path = "\(folder)/\(name)"
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: path, limit: limit)
        } catch {
            // Every machine knows it, files or not.
            if name == "UTC" || name == "Etc/UTC" { return .utc }
            throw CommandError(
                .configuration,
                "this machine does not know the time zone \(name) of the window",
                because: ["\(error)"],
                hint: "check its name, or install the package tzdata"
            )
        }
        do throws(ZoneError) {
            return try Zone(bytes)
        } catch {
            throw CommandError(
                .configuration,
                "the time zone \(name) of the window cannot be used",
                because: ["\(path): \(error)"]
            )
        }
    }
}
