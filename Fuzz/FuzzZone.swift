import Base

/// Any bytes are a zone, or they are refused; a zone has an offset for every moment.
func fuzzZone(_ bytes: [UInt8]) {
    guard let zone = try? Zone(bytes) else { return }
    for time in [Int64.min, -2_208_988_800, 0, 1_774_755_000, 4_102_444_800, 1 << 41, Int64.max] {
        guard abs(zone.offset(at: time)) <= 93_599 + 604_800 else {
            fatalError("an offset of more than a day")
        }
        _ = zone.moment(ofLocal: time)
    }
}
