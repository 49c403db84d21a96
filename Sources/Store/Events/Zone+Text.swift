package import Base

extension Zone {
    /// A time in local form: `2026-11-22 05:03:10 +02:00`.
    package func text(_ time: WallTime) -> String {
        let offset = offset(at: seconds(time))
        let local = time.advanced(by: .seconds(offset)).description
        let sign = offset < 0 ? "-" : "+"
        let (hours, minutes) = (abs(offset) / 3_600, abs(offset) / 60 % 60)
        let zone =
            self == .utc ? "UTC" : "\(sign)\(Self.two(hours)):\(Self.two(minutes))"
        return "\(local.prefix(10)) \(local.dropFirst(11).prefix(8)) \(zone)"
    }

    /// The times of one screen, to the minute: only the first one names the zone, and one after a change of the clocks.
    package func screen() -> (WallTime) -> String {
        var said: Substring?
        return { time in
            let whole = text(time)
            let zone = whole.dropFirst(20)
            defer { said = zone }
            return "\(whole.prefix(16))\(zone == said ? "" : " " + zone)"
        }
    }

    /// A local time with milliseconds: `2026-11-22 05:03:10.250 +02:00`.
    package func precise(_ time: WallTime) -> String {
        let text = text(time)
        return "\(text.prefix(19))\(time.description.dropFirst(19).prefix(4))\(text.dropFirst(19))"
    }

    /// A local time without the day when it is near.
    package func near(_ time: WallTime, from now: WallTime) -> String {
        let whole = text(time)
        let isNear = now.duration(to: time) < .seconds(20 * 3_600)
        return isNear ? String(whole.dropFirst(11)) : whole
    }

    /// The last local noon at or before a time.
    package func lastNoon(before time: WallTime) -> WallTime {
        let local = seconds(time) + Int64(offset(at: seconds(time)))
        let day = Int64((Double(local - 43_200) / 86_400).rounded(.down))
        let noon = moment(ofLocal: day * 86_400 + 43_200)
        return WallTime(milliseconds: noon * 1_000)
    }

    private func seconds(_ time: WallTime) -> Int64 {
        Int64((Double(time.milliseconds) / 1_000).rounded(.down))
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
