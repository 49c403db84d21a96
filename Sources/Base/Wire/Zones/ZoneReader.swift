/// Reads a compiled zoneinfo file (RFC 8536), version 1 to 4.
extension Zone {
    /// The counts of a header, in the order of the file.
    private struct Header {
        let version: UInt8
        let utcCount: Int
        let standardCount: Int
        let leapCount: Int
        let changeCount: Int
        let typeCount: Int
        let textCount: Int

        init(_ reader: inout ByteReader) throws(ZoneError) {
            guard let magic = try? reader.bytes(4), magic == Array("TZif".utf8) else {
                throw .notAZoneFile
            }
            do throws(OutOfBytes) {
                version = try reader.byte()
                _ = try reader.bytes(15)
                var counts: [Int] = []
                for _ in 0..<6 { counts.append(Int(try reader.big(UInt32.self))) }
                (utcCount, standardCount, leapCount) = (counts[0], counts[1], counts[2])
                (changeCount, typeCount, textCount) = (counts[3], counts[4], counts[5])
            } catch { throw .cutOff }
            // No zone has more than a few hundred; the limits keep hostile counts from costing
            // time.
            guard changeCount <= 10_000, (1...256).contains(typeCount), textCount <= 4_096,
                leapCount <= 1_000, utcCount <= 256, standardCount <= 256
            else { throw .damaged("its counts") }
        }

        func size(ofTime time: Int) -> Int {
            changeCount * (time + 1) + typeCount * 6 + textCount + leapCount * (time + 4)
                + standardCount + utcCount
        }
    }

    package init(_ bytes: [UInt8]) throws(ZoneError) {
        var reader = ByteReader(bytes)
        let old = try Header(&reader)
        guard old.version >= 0x32 else {
            self = try Zone.read(&reader, old, wide: false)
            return
        }
        do throws(OutOfBytes) {
            _ = try reader.bytes(old.size(ofTime: 4))
        } catch { throw .cutOff }
        let header = try Header(&reader)
        self = try Zone.read(&reader, header, wide: true)
    }

    private static func read(
        _ reader: inout ByteReader,
        _ header: Header,
        wide: Bool
    ) throws(ZoneError) -> Zone {
        var changes: [Int64] = []
        var types: [UInt8] = []
        var offsets: [Int] = []
        var footer: [UInt8]?
        do throws(OutOfBytes) {
            for _ in 0..<header.changeCount {
                changes.append(
                    wide
                        ? Int64(bitPattern: try reader.big(UInt64.self))
                        : Int64(Int32(bitPattern: try reader.big(UInt32.self)))
                )
            }
            types = try reader.bytes(header.changeCount)
            for _ in 0..<header.typeCount {
                offsets.append(Int(Int32(bitPattern: try reader.big(UInt32.self))))
                _ = try reader.bytes(2)
            }
            _ = try reader.bytes(
                header.textCount + header.leapCount * (wide ? 12 : 8) + header.standardCount
                    + header.utcCount
            )
            if wide { footer = try reader.bytes(reader.remaining) }
        } catch { throw .cutOff }
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .damaged("its changes are out of order")
        }
        guard types.allSatisfy({ Int($0) < offsets.count }) else {
            throw .damaged("a type that is not there")
        }
        // RFC 8536, 3.2: at most about a day and an hour either way.
        guard offsets.allSatisfy({ (-89_999...93_599).contains($0) }) else {
            throw .damaged("an offset")
        }
        return Zone(
            first: offsets[0],
            changes: changes,
            offsets: types.map { offsets[Int($0)] },
            rule: try rule(in: footer)
        )
    }

    /// The text between the two line feeds after the data; empty where there is no rule.
    private static func rule(in footer: [UInt8]?) throws(ZoneError) -> ZoneRule? {
        guard let footer else { return nil }
        guard footer.first == 0x0A, let end = footer.dropFirst().firstIndex(of: 0x0A) else {
            throw .cutOff
        }
        let text = footer[1..<end]
        guard !text.isEmpty else { return nil }
        guard let rule = ZoneRule(text) else { throw .damaged("the rule in its footer") }
        return rule
    }
}
