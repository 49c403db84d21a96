package import Base
package import Commands
package import Manifest
package import Show
import Store

/// Finds the time zone of a plan's window among the machine's zone files.
package enum ZoneSource {
    /// Zone files have only a few kilobytes.
    private static let limit = 1 << 20

    /// Suggests zones with the same last part, and names that are similar.
    private static func hint(_ name: String, _ folder: String) -> String {
        let names = names(in: folder)
        guard !names.isEmpty else { return "install the package tzdata" }
        let city = name.split(separator: "/").last.map { $0.lowercased() } ?? ""
        let same = names.filter { $0.split(separator: "/").last?.lowercased() == city }
        if let first = same.first { return "did you mean `\(first)`?" }
        if let near = Nearest.match(name, among: names.map { $0.lowercased() }) {
            return "did you mean `\(names.first { $0.lowercased() == near } ?? near)`?"
        }
        return "write it as in Europe/Tallinn; `timedatectl list-timezones` lists them"
    }

    /// Read from the table beside the zone files.
    private static func names(in folder: String) -> [String] {
        for table in ["zone1970.tab", "zone.tab"] {
            guard let bytes = try? TextFile.read(path: "\(folder)/\(table)", limit: limit) else {
                continue
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
                line in
                guard !line.hasPrefix("#") else { return nil }
                let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
                return fields.count > 2 ? String(fields[2]) : nil
            }.sorted()
        }
        return []
    }

    package static func zone(
        of plan: FrozenPlan,
        _ context: Context
    ) throws(CommandError) -> Zone {
        try zone(plan.rollout.window?.zone, context)
    }

    /// The zone in which times are shown to people: UTC where this machine does not know that of the window.
    package static func shown(_ plan: PlanView?, _ context: Context) -> Zone {
        shown(plan?.zone, context)
    }

    /// The same by the zone's name; nil means that there is no window.
    package static func shown(_ name: String?, _ context: Context) -> Zone {
        (try? zone(name, context)) ?? .utc
    }

    /// Adds what is known here of the rollout's window: whether it is open, and when it opens next.
    package static func addWindow(to status: inout RolloutStatus, _ context: Context) {
        guard let plan = status.plan, status.snapshot.rollout?.state != .finished,
            let zone = try? zone(plan.zone, context), let times = plan.openTimes(in: zone)
        else { return }
        // A simulated run has a calendar of its own.
        let run = status.snapshot.run.flatMap { $0.seed == nil ? nil : $0 }
        let now = RealTime().wallTime
        status.openings = times.next(3, after: run?.end?.time ?? run?.started ?? now)
        if run == nil { status.window = times.state(at: now) }
    }

    private static func zone(
        _ name: String?,
        _ context: Context
    ) throws(CommandError) -> Zone {
        guard let name else { return .utc }
        let folder = context.variable("TZDIR") ?? "/usr/share/zoneinfo"
        let path = "\(folder)/\(name)"
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: path, limit: limit)
        } catch {
            // Known on every machine, with or without files.
            if name == "UTC" || name == "Etc/UTC" { return .utc }
            throw CommandError(
                .configuration,
                "this machine does not know the time zone \(name) of the window",
                because: ["\(error)"],
                hint: hint(name, folder)
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
